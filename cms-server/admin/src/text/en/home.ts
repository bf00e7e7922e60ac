// The first screen.
export const home = {
  title: 'Home',
  types: 'Content types',
};
