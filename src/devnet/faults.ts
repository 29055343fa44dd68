import { defineFaults } from '#lib/fault'

export const devnetFault = defineFaults({
  BAD_MNEMONIC: {
    severity: 'fatal',
    // the message does not contain the words, because they may be private
    says: (_: Readonly<Record<string, never>>) => 'the mnemonic must have 12 to 24 English words of BIP-39 with a valid checksum',
    fix: 'omit --mnemonic for the well-known test accounts, or correct the words',
  },
  UNKNOWN_FORK: {
    severity: 'fatal',
    says: (d: { fork: string; known: readonly string[] }) => `unknown fork ${JSON.stringify(d.fork)}`,
    fix: 'see basalt help devnet for the forks, or give a file with seconds after genesis by fork',
  },
  BAD_FORK_SCHEDULE: {
    severity: 'fatal',
    says: (d: { fork: string; found: string; expected: string }) => `the fork schedule has ${d.fork} at ${d.found}, expected ${d.expected}`,
    fix: 'give seconds after genesis by fork, in the order of the forks: {"ecotone": 2, "fjord": 20}',
  },
  OPTION_UNSUPPORTED_HERE: {
    severity: 'fatal',
    says: (d: { option: string; why: string }) => `${d.option} is not supported: ${d.why}`,
    fix: 'omit it',
  },
  OTHER_OPTIONS: {
    severity: 'fatal',
    says: (d: { datadir: string; options: readonly string[] }) =>
      `the devnet in ${d.datadir} was created with other options: ${d.options.join('; ')}`,
    fix: 'start it with its original options, or use another --datadir',
  },
  DEVNET_FILE_BAD: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `${d.path} is not a devnet file: ${d.reason}`,
    fix: 'use another --datadir, or restore the file from a copy of the directory',
  },
  DEVNET_L1_MISSING: {
    severity: 'fatal',
    says: (d: { name: string }) => `anvil is missing: npm did not install ${d.name}`,
    fix: 'run npm install without --omit=optional; if there is no anvil for this machine, use the L1 in memory',
  },
  DEVNET_L1_PORT: {
    severity: 'fatal',
    says: (d: { port: number }) => `--l1.port: port ${d.port} for the devnet's L1 is in use`,
    fix: 'use another port, or 0 for any free one',
  },
  DEVNET_L1_STATE: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `the devnet's L1 cannot continue from ${d.path}: ${d.reason}`,
    fix: 'restore a copy of the data directory, or start a new devnet in another --datadir',
  },
  DEVNET_L1_START: {
    severity: 'fatal',
    says: (d: { reason: string }) => `anvil did not start: ${d.reason}`,
    fix: 'run the program by hand to see why: node_modules/.bin/anvil --version',
  },
  DEVNET_L1_ENDED: {
    severity: 'fatal',
    says: (d: { reason: string }) => `the devnet's L1 has ended${d.reason === '' ? '' : `: ${d.reason}`}`,
    fix: 'start the devnet again; with --datadir it continues from the last saved state',
  },
  DEVNET_L1_REFUSED: {
    severity: 'fatal',
    says: (d: { method: string; message: string }) => `the devnet's L1 answers ${d.method} with an error: ${d.message}`,
    fix: 'this is an internal error of the devnet; report it',
  },
  DEVNET_L1_SILENT: {
    severity: 'retry',
    says: (d: { method: string; reason: string }) => `the devnet's L1 does not answer ${d.method}: ${d.reason}`,
    fix: 'nothing, the request is retried; if the fault persists, restart the devnet',
  },
  DEVNET_L1_DEPTH: {
    severity: 'fatal',
    says: (d: { depth: number; most: number }) =>
      `an L1 reorg of ${d.depth} blocks is not possible; 1 to ${d.most} blocks can be replaced now`,
    fix: 'use a smaller depth; blocks from before a restart cannot be replaced',
  },
  DEVNET_NODE_STOPPED: {
    severity: 'fatal',
    says: (d: { node: string }) => `the ${d.node} of the devnet stopped without a fault`,
    fix: 'start it again with --log.level debug, and report the log',
  },
  DEVNET_NOT_RUNNING: {
    severity: 'fatal',
    says: (d: { url: string; reason: string }) => `no devnet responds at ${d.url}: ${d.reason}`,
    fix: 'start one (basalt devnet), or give its control port: --control.port',
  },
  DEVNET_RPC: {
    severity: 'fatal',
    says: (d: { url: string; method: string; reason: string }) => `${d.method} at ${d.url}: ${d.reason}`,
    fix: 'check that the devnet still runs, and the arguments of the command',
  },
  CALL_REVERTED: {
    severity: 'fatal',
    says: (d: { error: string }) => `the contract refuses the call: ${d.error}`,
    fix: 'correct the arguments; basalt devnet b20 show prints the balances and policies of a token',
  },
  NO_B20: {
    severity: 'fatal',
    says: () => 'the chain has no B20 contracts at its head',
    fix: 'start the devnet with --fork beryl, cobalt or denim; after that, wait for the fork',
  },
  NO_B20_TOKEN: {
    severity: 'fatal',
    says: (d: { token: string }) => `there is no B20 token at ${d.token}`,
    fix: 'create one (basalt devnet b20 create), and give the address that it prints',
  },
  NO_ACTIVATION_ADMIN: {
    severity: 'fatal',
    says: (d: { feature: string; admin: string }) => `the feature ${d.feature} is not active, and no key is known for its admin ${d.admin}`,
    fix: "give the words of the devnet's accounts with --mnemonic, or activate the feature as its admin",
  },
  DEVNET_WAITED: {
    severity: 'fatal',
    says: (d: { what: string; seconds: number }) => `${d.what} timed out after ${d.seconds} s`,
    fix: 'check the status of the devnet: its sequencer, its batcher or its connection to L1 may be switched off',
  },
  UNKNOWN_ACCOUNT: {
    severity: 'fatal',
    says: (d: { from: string; reason: string }) => `no key for account ${d.from}: ${d.reason}`,
    fix: 'give --from as a number from 0 on or as an address from basalt devnet accounts, and --mnemonic if the devnet has its own',
  },
  TRANSACTION_FAILED: {
    severity: 'fatal',
    says: (d: { hash: string; where: string; block: number }) => `transaction ${d.hash} failed on ${d.where}, in block ${d.block}`,
    fix: 'run eth_call at that block to see why it reverts',
  },
  WITHDRAWAL_UNPROVED: {
    severity: 'fatal',
    says: (d: { reason: string }) => `the withdrawal cannot be proved: ${d.reason}`,
    fix: 'retry, because a reorg may have interfered; otherwise report it',
  },
  DEVNET_DATADIR_BUSY: {
    severity: 'fatal',
    says: (d: { datadir: string }) => `another devnet runs in ${d.datadir}`,
    fix: 'stop it, or use another --datadir',
  },
  DEVNET_DATADIR_UNWRITABLE: {
    severity: 'fatal',
    says: (d: { datadir: string; reason: string }) => `${d.datadir} is not writable: ${d.reason}`,
    fix: 'make the folder writable, or use another --datadir',
  },
})
