// Sign-in, set-up, invitation and reset.
export const signIn = {
  title: 'Sign in',
  email: 'E-mail',
  password: 'Password',
  show: 'Show',
  hide: 'Hide',
  submit: 'Sign in',
  or: 'or',
  wrong: 'The e-mail address or the password is wrong.',
  forgotten: 'Forgot your password? An administrator can send you a link.',
  tooMany: (time: string) => `Too many failed attempts. Try again at ${time}.`,
};
