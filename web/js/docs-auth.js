// Keeps the token of the explorer for as long as the tab is open, so that reloading does not lose it.
const key = "docs-token";
const scheme = "bearerAuth";

export const keepToken = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (authorize) => (payload) => {
          const token = payload?.[scheme]?.value;
          if (token) sessionStorage.setItem(key, token);
          return authorize(payload);
        },
        logout: (logout) => (payload) => {
          sessionStorage.removeItem(key);
          return logout(payload);
        },
      },
    },
  },
});

export function restoreToken(ui) {
  const token = sessionStorage.getItem(key);
  if (token) ui.preauthorizeApiKey(scheme, token);
}
