import { defineFaults } from '#lib/fault'

export const rpcFault = defineFaults({
  PORT_IN_USE: {
    severity: 'fatal',
    says: (d: { flag: string; host: string; port: number }) => `--${d.flag}: port ${d.port} on ${d.host} is in use`,
    fix: 'stop the program that listens there, or give the flag another port (0: any free one)',
  },
  LISTEN_FAILED: {
    severity: 'fatal',
    says: (d: { flag: string; host: string; port: number; reason: string }) =>
      `--${d.flag}: cannot listen on ${d.host}:${d.port}: ${d.reason}`,
    fix: 'choose an address of this machine and a port that this user may open',
  },
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
