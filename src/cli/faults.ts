import { defineFaults } from '#lib/fault'

/** Part of a file with a proof. */
type WrongPart = { path: string; at: string; reason: string }

export const cliFault = defineFaults({
  BAD_FLAG: {
    severity: 'fatal',
    says: (d: { flag: string; value: string; expected: string; variable?: string }) =>
      `--${d.flag}${d.variable === undefined ? '' : ` (${d.variable})`}: ${JSON.stringify(d.value)} is not ${d.expected}`,
    fix: 'give the flag (or its environment variable) a value of that form; basalt COMMAND --help lists them',
  },
  MISSING_FLAG: {
    severity: 'fatal',
    says: (d: { flag: string; variable: string; doc: string }) => `--${d.flag} is needed: ${d.doc} (${d.variable})`,
    fix: 'give the flag, or set its variable',
  },
  BAD_USAGE: {
    severity: 'fatal',
    says: (d: { problem: string }) => d.problem,
    fix: 'basalt COMMAND --help lists its arguments and flags',
  },
  CONFLICTING_FLAGS: {
    severity: 'fatal',
    says: (d: { flags: readonly string[]; rule: string }) => `${d.flags.map((flag) => `--${flag}`).join(', ')}: ${d.rule}`,
    fix: 'give only one of them; basalt help node explains each',
  },
  CONFLICTING_VARIABLES: {
    severity: 'fatal',
    says: (d: { flag: string; variables: readonly string[] }) => `${d.variables.join(' and ')} both set --${d.flag}, to different values`,
    fix: 'remove one of them, or give the flag on the command line, which wins',
  },
  WRONG_MODE: {
    severity: 'fatal',
    says: (d: { flag: string; mode: string; modes: readonly string[] }) =>
      `--${d.flag} has no effect with --mode ${d.mode}, only with ${d.modes.join(' or ')}`,
    fix: 'leave the flag out, or choose a mode in which it has an effect',
  },
  JWT_FILE_BAD: {
    severity: 'fatal',
    says: (d: { path: string; problem: string }) => `${d.path} is not a valid secret file of the Engine API: ${d.problem}`,
    fix: 'it must hold 64 hex digits and be readable by its owner only (chmod 600); remove it, and the next start creates a new one',
  },
  JWT_FILE_UNWRITABLE: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `cannot create the secret file ${d.path}: ${d.reason}`,
    fix: 'make its folder writable, or name another file with --jwt',
  },
  JWT_CONFLICT: {
    severity: 'fatal',
    says: (d: { path: string }) => `--jwt ${d.path} and --jwt.secret hold different secrets`,
    fix: 'remove one of the two flags',
  },
  RELEASE_INDEX_BAD: {
    severity: 'fatal',
    says: (d: { name: string; reason: string }) => `the release index at ${d.name} cannot be read: ${d.reason}`,
    fix: 'check the URL of the index.json of a release: --release.index',
  },
  NODE_SILENT: {
    severity: 'fatal',
    says: (d: { name: string; reason: string }) => `no node answers at ${d.name}: ${d.reason}`,
    fix: 'start it with basalt node, or name its address with --url, or with --metrics-url where the command has it',
  },
  NO_OPERATOR: {
    severity: 'fatal',
    says: (d: { name: string }) => `${d.name} does not serve the methods of the operator`,
    fix: 'start the node with --ipc.path FILE (any mode but consensus), or with --rollup.admin (any mode but execution), and name the same here',
  },
  NODE_REFUSED: {
    severity: 'fatal',
    says: (d: { name: string; method: string; reason: string }) => `${d.name} refused ${d.method}: ${d.reason}`,
    fix: 'check the arguments; a missing method needs its namespace in --http.api of the node',
  },
  DA_UNREADABLE: {
    severity: 'fatal',
    says: (d: { name: string; what: string; reason: string }) => `${d.name} does not give ${d.what}: ${d.reason}`,
    fix: 'check --l1.rpc, --url and --metrics-url (the rollup port): basalt doctor checks them too',
  },
  NODE_KILLED: {
    severity: 'fatal',
    says: () => 'the node was killed (SIGKILL), most often by the system for lack of memory',
    fix: 'start it again, no acknowledged data is lost; if the system log names this process, give it more memory',
  },
  NODE_CRASHED: {
    severity: 'fatal',
    says: (d: { signal: string }) => `the node crashed (${d.signal}): its heap was exhausted, or native code failed`,
    fix: 'start it again, no acknowledged data is lost; for a larger heap set NODE_OPTIONS=--max-old-space-size=MB; if it happens again, report it with the lines above',
  },
  STORE_UNREADABLE: {
    severity: 'fatal',
    says: (d: { files: readonly string[] }) => `the node ended (SIGBUS): a page of ${d.files.join(' or ')} could not be read`,
    fix: 'check the disk and the system log; if the file was cut off, start again with an empty data directory or a snapshot',
  },
  DATABASE_PAGE_DAMAGED: {
    severity: 'fatal',
    says: (d: { command: string; signal: string; path: string }) =>
      `${d.command} ended (${d.signal}) while it read ${d.path}: a page of the file is damaged or cut off`,
    fix: 'check the disk and the system log; then start with an empty data directory, or with a copy of one that verifies',
  },
  PROOFS_PAGE_DAMAGED: {
    severity: 'fatal',
    says: (d: { command: string; signal: string; path: string; chainPath: string }) =>
      `${d.command} ended (${d.signal}) while it read ${d.path} and ${d.chainPath}: a page of one of them is damaged or cut off`,
    fix: 'check the disk and the system log; then basalt db verify: if the chain is sound, remove the directory of the proofs, and recording starts again',
  },
  COMMAND_KILLED: {
    severity: 'fatal',
    says: (d: { command: string }) => `${d.command} was killed`,
    fix: 'look for a lack of memory in the system log; run the same command again: it continues, or starts over, and no stored block is lost',
  },
  EXECUTION_STUCK: {
    severity: 'fatal',
    says: () =>
      'the execution thread or its commit thread gives no sign of life: its heap was exhausted during a write, or it is deadlocked; the node is killed',
    fix: 'start it again, no acknowledged data is lost; for a larger heap set NODE_OPTIONS=--max-old-space-size=MB',
  },
  STOP_TIMED_OUT: {
    severity: 'fatal',
    says: () => 'the node did not stop within 50 s and is killed',
    fix: 'no acknowledged data is lost; check whether the disk is slow',
  },
  EXPORT_EXISTS: {
    severity: 'fatal',
    says: (d: { path: string }) => `${d.path} exists`,
    fix: 'name another directory, or give --force to replace the files of an earlier export',
  },
  EXPORT_UNWRITABLE: {
    severity: 'fatal',
    says: (d: { directory: string; reason: string }) => `cannot write files to ${d.directory}: ${d.reason}`,
    fix: 'make the directory writable, or name another one',
  },
  UNWRITABLE_FILE: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `cannot write ${d.path}: ${d.reason}`,
    fix: 'free space on that disk, check the path and its permissions, or name another file; no partial file is left',
  },
  UNREADABLE_FILE: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `cannot read ${d.path}: ${d.reason}`,
    fix: 'check the path and its permissions',
  },
  BAD_FILE: {
    severity: 'fatal',
    says: (d: { path: string; expected: string; reason: string }) => `${d.path} is not ${d.expected}: ${d.reason}`,
    fix: 'check that it is the right file and complete',
  },
  PROOF_MALFORMED: {
    severity: 'fatal',
    says: (d: WrongPart) => `${d.path}: ${d.at}: ${d.reason}`,
    fix: 'give the result of eth_getProof as the node sent it, or the whole JSON-RPC answer',
  },
  PROOF_ROOT_DIFFERS: {
    severity: 'fatal',
    says: (d: WrongPart) => `${d.path}: ${d.at}: ${d.reason}`,
    fix: 'request the proof at the block that has this state root, by its number or hash',
  },
  PROOF_NODES_WRONG: {
    severity: 'fatal',
    says: (d: WrongPart) => `${d.path}: ${d.at}: ${d.reason}`,
    fix: 'the proof is damaged or false: request it again, or from another node',
  },
  PROOF_VALUE_DIFFERS: {
    severity: 'fatal',
    says: (d: WrongPart) => `${d.path}: ${d.at}: ${d.reason}`,
    fix: 'do not use the claimed value; the node that sent it is wrong',
  },
  PROOF_ADDRESS_DIFFERS: {
    severity: 'fatal',
    says: (d: WrongPart) => `${d.path}: ${d.at}: ${d.reason}`,
    fix: 'request the proof of this account',
  },
  PROOF_SLOT_MISSING: {
    severity: 'fatal',
    says: (d: WrongPart) => `${d.path}: ${d.at}: ${d.reason}`,
    fix: 'request the proof with these slots',
  },
  PROOF_OUTPUT_ROOT_DIFFERS: {
    severity: 'fatal',
    says: (d: WrongPart) => `${d.path}: ${d.at}: ${d.reason}`,
    fix: 'take the output root, the state root and the block hash of one block; optimism_outputAtBlock returns all three',
  },
})
