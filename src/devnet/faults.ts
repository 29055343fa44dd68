import { defineFaults } from '#lib/fault'

export const devnetFault = defineFaults({
  BAD_MNEMONIC: {
    severity: 'fatal',
    // the words are not shown: they may be somebody's own
    says: (_: Readonly<Record<string, never>>) => 'the mnemonic is not 12 to 24 English words of BIP-39 with a right checksum',
    fix: 'leave --mnemonic out for the well-known test accounts, or correct the words',
  },
  UNKNOWN_FORK: {
    severity: 'fatal',
    says: (d: { fork: string; known: readonly string[] }) => `there is no fork ${JSON.stringify(d.fork)} to begin with`,
    fix: 'basalt help devnet names the forks; a file with seconds after genesis by fork is taken too',
  },
  BAD_FORK_SCHEDULE: {
    severity: 'fatal',
    says: (d: { fork: string; found: string; expected: string }) => `the fork schedule has ${d.fork} at ${d.found}, expected ${d.expected}`,
    fix: 'give seconds after genesis by fork, in the order of the forks: {"ecotone": 2, "fjord": 20}',
  },
  OPTION_UNSUPPORTED_HERE: {
    severity: 'fatal',
    says: (d: { option: string; why: string }) => `${d.option} is not supported: ${d.why}`,
    fix: 'leave it out',
  },
  OTHER_OPTIONS: {
    severity: 'fatal',
    says: (d: { datadir: string; options: readonly string[] }) =>
      `the devnet in ${d.datadir} was made with other options: ${d.options.join('; ')}`,
    fix: 'start it with those it was made with, or name another --datadir',
  },
  DEVNET_FILE_BAD: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `${d.path} does not tell of a devnet: ${d.reason}`,
    fix: 'remove its folder, and a new devnet is made there',
  },
  DEVNET_L1_MISSING: {
    severity: 'fatal',
    says: (d: { name: string }) => `anvil is not there: npm did not install ${d.name}`,
    fix: 'run npm install without --omit=optional; where there is no anvil for the machine, use the L1 in memory',
  },
  DEVNET_L1_PORT: {
    severity: 'fatal',
    says: (d: { port: number }) => `--l1.port: port ${d.port} for the devnet's L1 is in use`,
    fix: 'name another port, or 0 for any free one',
  },
  DEVNET_L1_STATE: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `the devnet's L1 cannot go on from ${d.path}: ${d.reason}`,
    fix: 'remove the data directory of the devnet, and a new one is made there',
  },
  DEVNET_L1_START: {
    severity: 'fatal',
    says: (d: { reason: string }) => `anvil does not start: ${d.reason}`,
    fix: 'run the program by hand to see why: node_modules/.bin/anvil --version',
  },
  DEVNET_L1_ENDED: {
    severity: 'fatal',
    says: (d: { reason: string }) => `the devnet's L1 has ended${d.reason === '' ? '' : `: ${d.reason}`}`,
    fix: 'start the devnet again; with --datadir it goes on from the last state that was saved',
  },
  DEVNET_L1_REFUSED: {
    severity: 'fatal',
    says: (d: { method: string; message: string }) => `the devnet's L1 answers ${d.method} with an error: ${d.message}`,
    fix: 'a mistake in the devnet: report it',
  },
  DEVNET_L1_SILENT: {
    severity: 'retry',
    says: (d: { method: string; reason: string }) => `the devnet's L1 does not answer ${d.method}: ${d.reason}`,
    fix: 'nothing: it is tried again; when it stays so, start the devnet again',
  },
  DEVNET_L1_DEPTH: {
    severity: 'fatal',
    says: (d: { depth: number; most: number }) => `a reorg of ${d.depth} L1 blocks: at the moment 1 to ${d.most} can be replaced`,
    fix: 'ask for fewer; blocks from before a restart stay',
  },
  DEVNET_NODE_STOPPED: {
    severity: 'fatal',
    says: (d: { node: string }) => `the ${d.node} of the devnet stopped without saying why`,
    fix: 'start it again with --log.level debug; please report what it says',
  },
  DEVNET_NOT_RUNNING: {
    severity: 'fatal',
    says: (d: { url: string; reason: string }) => `no devnet answers at ${d.url}: ${d.reason}`,
    fix: 'start one (basalt devnet), or give the port of its control methods: --control.port',
  },
  DEVNET_RPC: {
    severity: 'fatal',
    says: (d: { url: string; method: string; reason: string }) => `${d.method} at ${d.url}: ${d.reason}`,
    fix: 'see that the devnet still runs, and what it was asked for',
  },
  DEVNET_WAITED: {
    severity: 'fatal',
    says: (d: { what: string; seconds: number }) => `${d.seconds} s have passed without ${d.what}`,
    fix: 'look at the status of the devnet: its sequencer, its batcher or its way to L1 may be switched off',
  },
  UNKNOWN_ACCOUNT: {
    severity: 'fatal',
    says: (d: { from: string; reason: string }) => `there is no key for account ${d.from}: ${d.reason}`,
    fix: 'give --from a number from 0 on or an address that basalt devnet accounts shows, and --mnemonic if the devnet has its own',
  },
  TRANSACTION_FAILED: {
    severity: 'fatal',
    says: (d: { hash: string; where: string; block: number }) => `transaction ${d.hash} failed on ${d.where}, in block ${d.block}`,
    fix: 'see with eth_call at that block why it reverts',
  },
  WITHDRAWAL_UNPROVED: {
    severity: 'fatal',
    says: (d: { reason: string }) => `the withdrawal cannot be proved: ${d.reason}`,
    fix: 'try again: a reorg may have come between; otherwise please report it',
  },
  DEVNET_DATADIR_BUSY: {
    severity: 'fatal',
    says: (d: { datadir: string }) => `another devnet runs in ${d.datadir}`,
    fix: 'stop it, or name another --datadir',
  },
  DEVNET_DATADIR_UNWRITABLE: {
    severity: 'fatal',
    says: (d: { datadir: string; reason: string }) => `${d.datadir} cannot be written: ${d.reason}`,
    fix: 'make the folder writable, or name another --datadir',
  },
})
