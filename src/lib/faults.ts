import { defineFaults } from './fault.ts'

export const listenFault = defineFaults({
  PORT_IN_USE: {
    severity: 'fatal',
    says: (d: { flag: string; host: string; port: number }) => `--${d.flag}: port ${d.port} on ${d.host} is in use`,
    fix: 'stop the other program, or set the flag to another port (0: any free port)',
  },
  LISTEN_FAILED: {
    severity: 'fatal',
    says: (d: { flag: string; host: string; port: number; reason: string }) =>
      `--${d.flag}: cannot listen on ${d.host}:${d.port}: ${d.reason}`,
    fix: 'choose an address of this machine and a port that this user may open',
  },
})
