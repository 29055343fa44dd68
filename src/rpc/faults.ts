import { defineFaults } from '#lib/fault'

export const rpcFault = defineFaults({
  IPC_UNUSABLE: {
    severity: 'fatal',
    says: (d: { flag: string; path: string; reason: string }) => `--${d.flag}: cannot listen at ${d.path}: ${d.reason}`,
    fix: 'choose the path of a new file, at most 100 bytes long, in a directory that this user may write to',
  },
  DUPLICATE_METHOD: {
    severity: 'fatal',
    says: (d: { method: string }) => `two definitions of the method ${d.method}`,
    fix: 'internal error: please report it',
  },
})
