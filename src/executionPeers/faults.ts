import { defineFaults } from '#lib/fault'

export const executionPeersFault = defineFaults({
  EXECUTION_P2P_PORT: {
    severity: 'fatal',
    says: (d: { host: string; port: number; reason: string }) =>
      `cannot listen for execution peers on ${d.host}:${d.port}, TCP and UDP: ${d.reason}`,
    fix: 'end the program that uses the port, choose another one with --p2p.execution.port, or run without execution peers: --p2p.execution off',
  },
  EXECUTION_P2P_PEER: {
    severity: 'fatal',
    says: (d: { flag: string; peer: string; reason: string }) => `${d.flag}: ${d.peer}: ${d.reason}`,
    fix: 'give enode URLs (enode://KEY@192.0.2.1:30303) or ENRs (enr:…)',
  },
  EXECUTION_P2P_STOPPED: {
    severity: 'retry',
    says: (d: { reason: string }) => `the thread of execution peers has ended and is started again: ${d.reason}`,
    fix: 'none; when it repeats, report the reason, and run without execution peers until then: --p2p.execution off',
  },
})
