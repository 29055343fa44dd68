/** A reason of status 503 of `/readyz`, with its meaning and its remedy. */
export type ReadinessReason = {
  /** name for `basalt explain` and for alerts */
  readonly code: string
  /** matches the texts of the reason, and of no other one */
  readonly matches: RegExp
  readonly meaning: string
  readonly fix: string
}

/** Every reason of `/readyz`. The texts are made by `health.ts`, `readiness.ts` and the parts of the node; a test compares them. */
export const readinessReasons: readonly ReadinessReason[] = [
  {
    code: 'STOPPED',
    matches: /^(?:stopped: |derivation has stopped$)/,
    meaning: 'the consensus half has stopped for good; the node serves the blocks that it has',
    fix: 'basalt explain the code at the end of the reason; after its remedy, restart the node',
  },
  {
    code: 'FIRST_START',
    matches: /^the first start is not finished: /,
    meaning: 'the node restores a snapshot, or chooses the block of an anchored start; only --health.port answers until then',
    fix: 'wait: a restore takes hours on a large chain; when its bytes do not grow, check the mirrors, the network and the disk',
  },
  {
    code: 'NOT_STARTED',
    matches: /^(?:derivation|following) has not started/,
    meaning: 'the start point of derivation, or of the followed chain, is not found yet',
    fix: 'nothing for a minute after a start; then check L1 with basalt doctor',
  },
  {
    code: 'L1_HEAD_UNKNOWN',
    matches: /^the L1 head is not known yet$/,
    meaning: 'no L1 endpoint has returned its head since the start',
    fix: 'check --l1.rpc with basalt doctor',
  },
  {
    code: 'L1_HEAD_OLD',
    matches: /^the L1 head, block \d+, is \d+ s older than the unsafe head$/,
    meaning: 'blocks arrive from the sequencer, but the L1 endpoint returns the same head for ten minutes: no block becomes safe',
    fix: 'compare the head of --l1.rpc with that of another endpoint; the endpoint is stuck, or L1 has stopped',
  },
  {
    code: 'DERIVATION_BEHIND',
    matches: /^derivation is at L1 block /,
    meaning: 'derivation is more than four L1 slots behind the head of L1: a sync, or a slow L1 endpoint or disk',
    fix: 'basalt status shows the time left; when it does not fall, check L1 and the disk with basalt doctor',
  },
  {
    code: 'HEAD_UNKNOWN',
    matches: /^the unsafe head is not known yet$/,
    meaning: 'the followed node has returned no head since the start',
    fix: 'check --source.l2.rpc with basalt doctor',
  },
  {
    code: 'HEAD_OLD',
    matches: /^the unsafe head, block /,
    meaning: 'the head is older than --ready.max-lag: the followed node is behind or does not answer, or this machine is too slow',
    fix: 'check --source.l2.rpc with basalt doctor; compare its head with that of basalt status',
  },
  {
    code: 'WAITING',
    matches: /^waiting for /,
    meaning: 'a wait has lasted longer than its deadline; the node retries, then takes the next step of its ladder by itself',
    fix: 'the text after the time has the last fault: basalt explain its code',
  },
  {
    code: 'FOLLOWING_STOPPED',
    matches: /^following has stopped: /,
    meaning: 'the node has stopped to take blocks of the followed node',
    fix: 'basalt explain the code at the end of the reason',
  },
  {
    code: 'SOURCE_REFUSED',
    matches: /^blocks of the followed node are refused: /,
    meaning: 'a block of the followed node is invalid here, or contradicts L1',
    fix: 'basalt explain the code at the end of the reason; follow another node when L1 does not confirm the block',
  },
  {
    code: 'FORK_AHEAD',
    matches: /^L1 demands protocol version /,
    meaning: 'the chain has a fork within a day that this version does not know; the node stops before it',
    fix: 'install a newer version now',
  },
  {
    code: 'CONSENSUS_SILENT',
    matches: /^(?:no consensus half has called since the start|the consensus half has not called for )/,
    meaning: 'nothing drives this execution half: the consensus half is down, or its secret or URL is wrong',
    fix: 'start the consensus half; check --engine and --jwt on its side with basalt doctor',
  },
  {
    code: 'CALL_UNANSWERED',
    matches: /^a call of the consensus half has had no answer for /,
    meaning:
      'this execution half has worked on one call for longer than 4 s: a slow block, a disk that is too slow, or a thread that is stuck',
    fix: 'look at processor and disk of the machine, and at the log; when it stays for minutes, restart the execution half',
  },
  {
    code: 'BLOCKS_MISSING',
    matches: /^the head is block \d+, but (?:the consensus half names blocks|block \d+ of the consensus half was refused)/,
    meaning: 'the consensus half is ahead of this half: the blocks before are missing, or its last block was invalid or not executed here',
    fix: 'wait: a consensus half of Basalt sends missing blocks, and execution peers have them (--p2p.execution); a longer gap: let the consensus half derive from L1. A refused block: see the log',
  },
  {
    code: 'EXECUTION_SLOW',
    matches: /^execution of block \d+ has taken /,
    meaning: 'one block has been executed for longer than 4 s: a hostile block, or a machine that is too slow',
    fix: 'look at processor and disk of the machine; the block is abandoned after --payload.max-time',
  },
  {
    code: 'EXECUTION_ABANDONED',
    matches: /^execution of block \d+ was abandoned/,
    meaning: 'a block took longer than --payload.max-time; it is refused for ten times as long, then executed again',
    fix: 'raise --payload.max-time when the block is valid on other nodes',
  },
  {
    code: 'DISK_LOW',
    matches: /^the (?:disk of the data directory has \d+ bytes free|free space of the data directory cannot be read)/,
    meaning: 'less than --db.min-free is left: nothing is written, and new blocks are refused',
    fix: 'free space or enlarge the disk; the node continues by itself. Shorter --retain.* and basalt db compact save space',
  },
  {
    code: 'MEMORY_LOW',
    matches: /^the memory of the process is near --memory-max /,
    meaning: 'calls are refused so that blocks can be executed',
    fix: 'lower the load or the rate limits, or raise --memory-max',
  },
  {
    code: 'PROOFS_MISSING',
    matches: /^(?:proofs are (?:recorded up to block |not recorded: )|no proofs are recorded yet$)/,
    meaning: 'with --proofs.required: proofs are behind the head, or recording has ended',
    fix: 'basalt proofs status shows the recorded blocks; the log has the reason',
  },
  {
    code: 'PENDING_STALE',
    matches: /^no fresh pending block: /,
    meaning: 'publishers of flashblocks are silent or not connected; pending is answered as latest',
    fix: 'check --flashblocks.url with basalt doctor',
  },
  {
    code: 'P2P_SILENT',
    matches: /^no block from \d+ connected peers for /,
    meaning: 'peers are connected, and none sends a valid block: a wrong clock, another network, another signer, or a halted sequencer',
    fix: 'check the clock and the unsafe block signer; the text has the most frequent reason of rejected messages',
  },
  {
    code: 'P2P_STOPPED',
    matches: /^the p2p thread has ended and is started again: /,
    meaning: 'no blocks arrive from peers until the thread of peers runs again',
    fix: 'nothing; when it repeats, report the reason, and run without peers until then: --p2p.disable',
  },
  {
    code: 'EXECUTION_P2P_STOPPED',
    matches: /^the thread of execution peers has ended and is started again: /,
    meaning: 'execution peers fill no gaps until their thread runs again',
    fix: 'nothing; when it repeats, report the reason, and run without execution peers until then: --p2p.execution off',
  },
  {
    code: 'RPC_RESTARTING',
    matches: /^all RPC threads have ended and are being restarted$/,
    meaning: 'no thread answers JSON-RPC for the moment',
    fix: 'nothing; when it repeats, look for a lack of memory in the log',
  },
  {
    code: 'TRUST_TOO_LOW',
    matches: /^the state begins with block /,
    meaning: 'the state was not executed from genesis, and L1 does not vouch for its first block as much as --trust.require demands',
    fix: 'wait: L1 is read again every ten minutes; two --l1.rpc endpoints of different hosts are needed; or lower --trust.require, as chains other than Base and Base Sepolia must',
  },
  {
    code: 'STATE_UNREADABLE',
    matches: /^the state of the node cannot be read: /,
    meaning: 'the question whether the node is ready ended with an error: the database is damaged, or the execution thread has ended',
    fix: 'basalt explain the code at the end of the reason, and see the log',
  },
  {
    code: 'MAIN_BUSY',
    matches: /^the main thread of the node has not answered/,
    meaning: 'the health thread has no report of the main thread: it is busy or stuck',
    fix: 'look at processor and memory; when it stays for a minute, restart the node',
  },
]

/** Returns the reason that a text of `/readyz` has; undefined: of another version. */
export const reasonOf = (problem: string): ReadinessReason | undefined => readinessReasons.find(({ matches }) => matches.test(problem))
