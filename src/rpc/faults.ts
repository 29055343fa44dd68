import { defineFaults } from '#lib/fault'

export const rpcFault = defineFaults({
  IPC_UNUSABLE: {
    severity: 'fatal',
    says: (d: { flag: string; path: string; reason: string }) => `--${d.flag}: cannot listen at ${d.path}: ${d.reason}`,
    fix: 'choose a file that is not there yet, in a directory this user may write to, with a name of at most 100 bytes',
  },
  DUPLICATE_METHOD: {
    severity: 'fatal',
    says: (d: { method: string }) => `two definitions of the method ${d.method}`,
    fix: 'this is a mistake in the program: please report it',
  },
})
