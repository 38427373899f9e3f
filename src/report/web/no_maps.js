// Debian's node-vega comes without d3-geo-projection, which only maps need.
export const geoMollweide = null;
