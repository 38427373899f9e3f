import { View } from "vega-view";

const contents = JSON.parse(document.getElementById("contents").textContent);
document.querySelector("main").textContent = contents.title + (View ? "" : "?");
