// Numbers with separators of thousands, in one language or another.
export const GROUPED_NUMBER = /^[+-]?[1-9]\d{0,2}([.,]\d{3})+$/;
