// Sign-in, set-up, invitation and reset.
export const signIn = {
  sessionEnded: 'Your session has ended',
  sessionEndedHelp: (name: string) =>
    `Sign in as ${name} to continue. The page and what you typed stay as they are.`,
  title: 'Sign in',
  email: 'E-mail',
  name: 'Name',
  password: 'Password',
  passwordRules: '12 characters or more',
  submit: 'Sign in',
  or: 'or',
  wrong: 'The e-mail address or the password is wrong.',
  forgotten: 'Forgot your password? An administrator can send you a link.',
  tooMany: (time: string) => `Too many failed attempts. Try again at ${time}.`,
  toSignIn: 'Go to sign-in',
  setup: {
    title: 'Set up cms',
    intro: 'Create the first administrator.',
    submit: 'Create account',
    missingTitle: 'This server has no user yet',
    missing:
      'When the server started, it printed a line that begins with CMS_SETUP_URL=. Open the link in this line. To get a new link, restart the server. You can also create the first administrator with this command:',
  },
  invitation: {
    title: (name: string) => `Welcome, ${name}`,
    intro: 'You were invited. Set a password to sign in from now on.',
    submit: 'Set password',
  },
  reset: {
    title: 'Set a new password',
    intro: 'All other sessions of this account end.',
    submit: 'Set password',
  },
  expired: {
    title: 'This link is no longer valid',
    reason: 'It has expired or was already used. Each link works once.',
    ask: 'Ask an administrator of this server for a new link. Invitations are valid for 72 hours, links for a new password for 1 hour.',
    setup: 'For a new set-up link restart the server, or create the first administrator with this command:',
  },
  openId: {
    openid_denied: 'The single sign-on service refused the sign-in.',
    openid_state: 'The sign-in took longer than 10 minutes, or was started in another browser. Try again.',
    openid_unavailable:
      'The single sign-on service cannot be reached. Try again later, or use your password.',
    openid_token:
      'The response of the single sign-on service is not valid. An administrator finds the reason in the log.',
    openid_email: 'The single sign-on service does not confirm your e-mail address.',
    openid_domain: 'E-mail addresses of your domain may not sign in here.',
    openid_user: 'You have no account here. An administrator can create one.',
    openid_disabled: 'Your account is disabled. An administrator can enable it.',
  },
  openIdOther: 'Single sign-on failed. Try again.',
};
