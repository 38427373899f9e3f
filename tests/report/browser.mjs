// Headless Chromium through Debian's chromedriver, in the words of the WebDriver protocol.
import {spawn} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';

const FLAGS = [
  '--headless=new',
  '--no-sandbox', // tests run as root too
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
];

export class Browser {
  static async open({width = 1200, height = 900} = {}) {
    const browser = new Browser();
    browser.profile = await mkdtemp(join(tmpdir(), 'lrvb_browser_'));
    await browser.startDriver();
    const {sessionId} = await browser.send('POST', '/session', {
      capabilities: {
        alwaysMatch: {
          browserName: 'chrome',
          'goog:loggingPrefs': {browser: 'ALL', performance: 'ALL'},
          'goog:chromeOptions': {
            binary: '/usr/bin/chromium',
            args: [...FLAGS, `--user-data-dir=${browser.profile}`, `--window-size=${width},${height}`],
          },
        },
      },
    });
    browser.session = `/session/${sessionId}`;
    return browser;
  }

  // On a port that is free: the driver chooses one and says which.
  startDriver() {
    this.driver = spawn('/usr/bin/chromedriver', ['--port=0'], {stdio: ['ignore', 'pipe', 'inherit']});
    return new Promise((resolve, reject) => {
      let said = '';
      this.driver.on('error', reject);
      this.driver.on('exit', (code) => reject(new Error(`chromedriver ended with ${code}: ${said}`)));
      this.driver.stdout.on('data', (text) => {
        said += text;
        const port = /started successfully on port (\d+)/.exec(said);
        if (!port) return;
        this.address = `http://127.0.0.1:${port[1]}`;
        resolve();
      });
    });
  }

  async send(method, path, body) {
    const answer = await fetch(this.address + path, {method, body: body && JSON.stringify(body)});
    const {value} = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${value.error}: ${value.message}`);
    return value;
  }

  ask(path, body) {
    return this.send('POST', this.session + path, body);
  }

  /** A command of the DevTools protocol. */
  devtools(cmd, params = {}) {
    return this.ask('/goog/cdp/execute', {cmd, params});
  }

  async close() {
    await this.send('DELETE', this.session).catch(() => {});
    const ended = new Promise((resolve) => this.driver.on('exit', resolve));
    this.driver.removeAllListeners('exit');
    this.driver.on('exit', () => {});
    this.driver.kill();
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 2000))]);
    await rm(this.profile, {recursive: true, force: true, maxRetries: 5});
  }

  /** Opens a file and waits until its report has been drawn. */
  async visit(path) {
    await this.log('browser');
    await this.log('performance');
    await this.ask('/url', {url: pathToFileURL(path).href});
    await this.until(() => document.documentElement.dataset.ready === 'true');
    await this.settle();
  }

  /** Runs a function in the page, with arguments that JSON can carry; it may be async. */
  run(what, ...args) {
    return this.ask('/execute/sync', {script: `return (${what}).apply(null, arguments);`, args});
  }

  async until(what, ...args) {
    for (let tries = 0; tries < 200; ++tries) {
      const value = await this.run(what, ...args);
      if (value) return value;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`never true: ${what}`);
  }

  /** Until what was asked for has been painted: Vega draws in promises, the page one picture a frame. */
  settle() {
    return this.run(
      () =>
        new Promise((resolve) =>
          setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 60))), 60),
        ),
    );
  }

  /** Sets a control as a person does, and lets the page know. */
  async set(selector, value) {
    await this.run(
      (wanted, text) => {
        const control = document.querySelector(wanted);
        control.value = text;
        control.dispatchEvent(new Event('input', {bubbles: true}));
        control.dispatchEvent(new Event('change', {bubbles: true}));
      },
      selector,
      String(value),
    );
    await this.settle();
  }

  async click(selector) {
    // In the middle of the window, where nothing that sticks to its edges lies over it.
    await this.run((wanted) => document.querySelector(wanted).scrollIntoView({block: 'center'}), selector);
    const found = await this.ask('/element', {using: 'css selector', value: selector});
    await this.ask(`/element/${Object.values(found)[0]}/click`, {});
    await this.settle();
  }

  /** Presses, moves and lets go of the mouse, in pixels of the window. */
  async drag(from, to) {
    const move = ({x, y}) => ({type: 'pointerMove', duration: 60, x: Math.round(x), y: Math.round(y), origin: 'viewport'});
    await this.ask('/actions', {
      actions: [
        {
          type: 'pointer',
          id: 'mouse',
          parameters: {pointerType: 'mouse'},
          actions: [move(from), {type: 'pointerDown', button: 0}, move(to), {type: 'pointerUp', button: 0}],
        },
      ],
    });
    await this.settle();
  }

  /** Presses keys, one after the other. */
  async key(...keys) {
    const actions = keys.flatMap((value) => [
      {type: 'keyDown', value},
      {type: 'keyUp', value},
    ]);
    await this.ask('/actions', {actions: [{type: 'key', id: 'keyboard', actions}]});
  }

  async press(...keys) {
    await this.key(...keys);
    await this.settle();
  }

  log(type) {
    return this.ask('/se/log', {type});
  }

  /** What the page complained about: errors, warnings, refusals of its policy. */
  async complaints() {
    return (await this.log('browser')).filter(({level}) => level === 'SEVERE' || level === 'WARNING').map(({message}) => message);
  }

  /** Every address that was asked for since the last visit began. */
  async requests() {
    return (await this.log('performance'))
      .map(({message}) => JSON.parse(message).message)
      .filter(({method}) => method === 'Network.requestWillBeSent')
      .map(({params}) => params.request.url);
  }

  async size(width, height) {
    await this.devtools('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: width < 600});
    await this.settle();
  }

  async scheme(value) {
    await this.devtools('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value}]});
    await this.settle();
  }

  /** The whole page, or so many pixels from its top, or one element of it, as PNG bytes. */
  async screenshot(selector = null, top = null) {
    const clip = await this.run((wanted) => {
      const box = (wanted ? document.querySelector(wanted) : document.documentElement).getBoundingClientRect();
      return {x: box.left + window.scrollX, y: box.top + window.scrollY, width: box.width, height: box.height};
    }, selector);
    const {data} = await this.devtools('Page.captureScreenshot', {
      format: 'png',
      captureBeyondViewport: true,
      clip: {...clip, height: top ?? clip.height, scale: 1},
    });
    return Buffer.from(data, 'base64');
  }
}
