import { defineFaults } from '#lib/fault'

export const p2pFault = defineFaults({
  P2P_PORT: {
    severity: 'fatal',
    says: (d: { host: string; port: number; reason: string }) => `cannot listen for peers on ${d.host}:${d.port}, TCP and UDP: ${d.reason}`,
    fix: 'end the program that uses the port, choose another one with --p2p.port, or run without peers: --p2p.disable',
  },
  P2P_KEY: {
    severity: 'fatal',
    says: (d: { file: string; reason: string }) => `key file ${d.file}: ${d.reason}`,
    fix: 'the file has 64 hex digits, a secp256k1 key; correct it, or remove the identity key to have a new one made',
  },
  P2P_PEER: {
    severity: 'fatal',
    says: (d: { flag: string; peer: string; reason: string }) => `${d.flag}: ${d.peer}: ${d.reason}`,
    fix: 'give multiaddrs with a peer id (/ip4/192.0.2.1/tcp/9222/p2p/16Uiu2…), ENRs (enr:…) or enode URLs',
  },
  P2P_STOPPED: {
    severity: 'retry',
    says: (d: { reason: string }) => `the p2p thread has ended and is started again: ${d.reason}`,
    fix: 'none; when it repeats, report the reason, and run without peers until then: --p2p.disable',
  },
  P2P_SILENT: {
    severity: 'retry',
    says: (d: { peers: number; forSec: number; rejected: string }) =>
      `no block from ${d.peers} connected peers for ${d.forSec} s${d.rejected === '' ? '' : `; most messages were rejected: ${d.rejected}`}`,
    fix: 'check that the clock is right, that the network is the right one, and that the unsafe block signer is current',
  },
  P2P_SIGNER: {
    severity: 'retry',
    says: (d: { reason: string }) => `the signer of blocks failed, the block is not gossiped: ${d.reason}`,
    fix: 'check the remote signer: --p2p.signer.endpoint',
  },
})
