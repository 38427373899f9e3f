// Vega's map projections want a package that the report has no use for.
export const geoMollweide = null;
