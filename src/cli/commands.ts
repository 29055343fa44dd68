import type { CommandEntry } from './command.ts'

/** Every command of `basalt`, in the order of the help. The files of a command are loaded when it runs, so a short command loads no node. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'devnet',
    doc: 'run a whole chain on this machine: L1, sequencer, batcher, and a verifier that must agree with the sequencer',
    load: async () => (await import('./commands/devnet.ts')).devnet,
  },
  {
    name: 'demo',
    doc: 'derive a recorded chain from its L1, compare it with the results of the clients that made it, serve it',
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  {
    name: 'node',
    doc: 'derive a chain from L1, execute it, serve it',
    load: async () => (await import('./commands/node.ts')).node,
  },
  {
    name: 'execute',
    doc: 'execute one block from a file, without state, and compare its hash; exit code 1 when it differs',
    load: async () => (await import('./commands/execute.ts')).execute,
  },
  {
    name: 'import',
    doc: 'execute payloads out of a file, one a line, on top of a data directory',
    load: async () => (await import('./commands/import.ts')).importBlocks,
  },
  {
    name: 'db',
    doc: 'measure, verify, compact, prune or migrate the database of a data directory; export and import blocks',
    load: async () => (await import('./commands/db.ts')).db,
  },
  {
    name: 'proof',
    doc: 'verify Merkle proofs of accounts and slots without a node',
    load: async () => (await import('./commands/proof.ts')).proof,
  },
  {
    name: 'proofs',
    doc: 'look at, verify and change the recorded proofs of older blocks (--proofs-history)',
    load: async () => (await import('./commands/proofs.ts')).proofs,
  },
  {
    name: 'snapshot',
    doc: 'make, restore, import, verify, list and serve snapshots of the state',
    load: async () => (await import('./commands/snapshot.ts')).snapshot,
  },
  {
    name: 'status',
    doc: 'print the state of a running node; exit code 1: it is not ready, 4: no node answers',
    load: async () => (await import('./commands/status/status.ts')).status,
  },
  {
    name: 'top',
    doc: 'show a running node live on the terminal: heads, rates, stages, RPC, L1, peers, memory, disk; --json prints samples',
    load: async () => (await import('./commands/top/top.ts')).top,
  },
  {
    name: 'da',
    doc: 'print the batches of the newest L1 blocks: transactions, channels, fees for each L2 byte, delays; needs --l1.rpc',
    load: async () => (await import('./commands/da/da.ts')).da,
  },
  {
    name: 'log',
    doc: 'show or set the levels of the log of a running node, by module',
    load: async () => (await import('./commands/operate/log.ts')).log,
  },
  {
    name: 'profile',
    doc: 'take a CPU or heap profile of a thread of a running node, which Chrome opens',
    load: async () => (await import('./commands/operate/profile.ts')).profile,
  },
  {
    name: 'doctor',
    doc: 'check the settings, L1 endpoints, disk and limits of a node, and print what to do; exit code 1 with an error',
    load: async () => (await import('./commands/doctor/doctor.ts')).doctor,
  },
  {
    name: 'config',
    doc: 'show, check or translate the settings of basalt node',
    load: async () => (await import('./commands/config/config.ts')).config,
  },
  {
    name: 'block',
    doc: 'print a block: header, decoded L1 attributes, transactions',
    load: async () => (await import('./commands/lookup/block.ts')).block,
  },
  {
    name: 'tx',
    doc: 'print a transaction, its result, and its fee split into execution, L1 and operator parts',
    load: async () => (await import('./commands/lookup/transaction.ts')).tx,
  },
  {
    name: 'receipt',
    doc: 'print the receipt of a transaction: fee parts, and logs with the names of events and B20 tokens',
    load: async () => (await import('./commands/lookup/transaction.ts')).receipt,
  },
  {
    name: 'account',
    doc: 'print balance, nonce and code of an account, and the facts of a B20 token',
    load: async () => (await import('./commands/lookup/account.ts')).account,
  },
  {
    name: 'call',
    doc: 'call a contract without a transaction, and print the result or the reason of the failure',
    load: async () => (await import('./commands/lookup/call.ts')).call,
  },
  {
    name: 'logs',
    doc: 'print logs of a range of blocks with the names of events and B20 tokens',
    load: async () => (await import('./commands/lookup/logs.ts')).logs,
  },
  {
    name: 'explain',
    doc: 'explain the code of a fault, or a reason of /readyz, and what to do',
    load: async () => (await import('./commands/explain/explain.ts')).explain,
  },
  {
    name: 'completion',
    doc: 'print the completion script of a shell: bash, zsh or fish',
    load: async () => (await import('./commands/completion/completion.ts')).completionOf(commands),
  },
  {
    name: 'version',
    doc: 'print the version of Basalt and of Node',
    load: async () => (await import('./commands/version.ts')).version,
  },
]
