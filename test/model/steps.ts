import { headerOfPayload } from '#engine/payloadHeader'
import { isFault } from '#lib/fault'
import { writeWanted } from '#proofs/wanted'
import { hashOf } from '#test/harness/chain/blocks'
import { dice } from '#test/harness/dice'
import type { Retention } from '#types/chainDistance'
import { hashHeader } from '#types/header'
import type { Payload } from '#types/payload'
import { isAncestor, type ModelBlock, type ModelHeads } from './chainModel.ts'
import { checkBlock, checkHeads, checkState, expectedStorageRoot } from './checks.ts'
import { type ModelRun, maxUnfinalized, refsOf } from './modelRun.ts'
import { anyRetention, anyRows, type Death } from './nodeProcess.ts'
import { checkProofs } from './recordedProofs.ts'
import { holds, same } from './same.ts'
import { knownAddresses, type Roll } from './transactions.ts'

const pick = <T>(roll: Roll, values: readonly T[]): T => {
  const value = values[roll(values.length)]
  if (value === undefined) throw new RangeError('nothing to pick from')
  return value
}

/** Returns the ancestor some blocks below, but not below `floor`. */
function below(block: ModelBlock, count: number, floor: ModelBlock): ModelBlock {
  let at = block
  for (let i = 0; i < count && at.parent && at.ref.number > floor.ref.number; i++) at = at.parent
  return at
}

function headsAt(roll: Roll, run: ModelRun, unsafe: ModelBlock): ModelHeads {
  const { finalized } = run.chain.heads
  return { unsafe, safe: below(unsafe, roll(6), finalized), finalized }
}

/** Extends the canonical chain. */
async function advance(roll: Roll, run: ModelRun): Promise<void> {
  for (let i = 1 + roll(3); i > 0; i--) {
    const block = await run.build(roll, run.chain.heads.unsafe)
    await run.setHeads(headsAt(roll, run, block))
  }
  const { unsafe, finalized } = run.chain.heads
  if (unsafe.ref.number - finalized.ref.number > maxUnfinalized) await finalize(roll, run)
}

/** Builds a block on any open block, mostly on a recent one. */
async function buildAnywhere(roll: Roll, run: ModelRun): Promise<void> {
  const { open } = run.chain
  await run.build(roll, roll(2) === 0 ? pick(roll, open.slice(-8)) : pick(roll, open))
}

/** Inserts a branch of up to four payloads in order, in reverse or in any order. Those with an unknown parent are refused. */
async function insertBranch(roll: Roll, run: ModelRun): Promise<void> {
  const { open, heads } = run.chain
  const blocks = await run.aside(roll, roll(3) === 0 ? heads.unsafe : pick(roll, open), 1 + roll(4))
  const order = roll(3)
  const arrived = order === 0 ? blocks : order === 1 ? blocks.toReversed() : blocks.toSorted(() => roll(3) - 1)
  for (const block of arrived) {
    const isKnown = await run.offer(block)
    if (isKnown && block.parent)
      holds(`block ${block.ref.number} is valid on an unknown parent`, run.chain.find(block.parent.ref.hash) !== undefined)
  }
  for (const block of blocks) if (roll(6) > 0 && !(await run.offer(block))) return
}

async function insertAgain(roll: Roll, run: ModelRun): Promise<void> {
  const block = roll(2) === 0 ? pick(roll, run.chain.open) : pick(roll, run.chain.canonical)
  if (block.parent) await run.offer(block)
}

const withHash = (run: ModelRun, payload: Payload): Payload => ({
  ...payload,
  blockHash: hashHeader(headerOfPayload(run.node.schedule, payload)),
})

/** Offers an invalid block, then a descendant of it. */
async function insertInvalid(roll: Roll, run: ModelRun): Promise<void> {
  const [first, second] = await run.aside(roll, pick(roll, run.chain.open), 2)
  if (!first || !second) return
  const { payload } = first
  const changes: readonly Partial<Payload>[] = [
    { stateRoot: hashOf(`wrong ${roll(1_000)}`) },
    { gasUsed: payload.gasUsed + 1n },
    { receiptsRoot: hashOf('wrong') },
    { baseFeePerGas: payload.baseFeePerGas + 1n },
    { transactions: [...payload.transactions, ...payload.transactions] },
    { blockNumber: payload.blockNumber + 1 },
  ]
  const wrong = withHash(run, { ...payload, ...pick(roll, changes) })
  const broken = roll(5) === 0 ? { ...payload, blockHash: hashOf('another') } : wrong
  const result = await run.insert(broken)
  if (run.node.isDead) return
  // a block number that does not follow the parent's makes the parent unknown, and so does a commit that drops it
  const hasParent = broken.blockNumber === payload.blockNumber && (first.parent === undefined || run.chain.mustKnow(first.parent))
  if (result !== undefined || hasParent) same('invalid payload', result?.kind, 'invalid')
  const child = withHash(run, { ...second.payload, parentHash: wrong.blockHash })
  holds('the child of an invalid block is not valid', (await run.insert(child))?.kind !== 'valid')
  for (const hash of [wrong.blockHash, child.blockHash])
    same('invalid block by its hash', await run.node.execution.payload(hash), undefined)
}

/** Makes any open block the head: a reorg to a side branch, or a shorter chain. */
async function reorg(roll: Roll, run: ModelRun): Promise<void> {
  const { open } = run.chain
  const wanted = roll(2) === 0 ? pick(roll, open) : pick(roll, open.slice(-6))
  const unsafe = await run.known(wanted)
  await run.setHeads(headsAt(roll, run, unsafe))
}

async function finalize(roll: Roll, run: ModelRun): Promise<void> {
  const { unsafe, finalized: floor } = run.chain.heads
  const finalized = below(unsafe, roll(1 + Math.floor((unsafe.ref.number - floor.ref.number) * 1.2)), floor)
  await run.setHeads({ unsafe, safe: below(unsafe, roll(6), finalized), finalized })
}

/** Asks for heads that the rules forbid. */
async function setWrongHeads(roll: Roll, run: ModelRun): Promise<void> {
  const { heads, open, abandoned } = run.chain
  const { unsafe, safe, finalized } = heads
  const side = open.find((block) => !isAncestor(block, unsafe) && block.ref.number <= unsafe.ref.number)
  const left = abandoned.at(-1)
  const wrong = [
    { ...refsOf(heads), unsafe: { ...unsafe.ref, hash: hashOf('no block') } },
    ...(side ? [{ ...refsOf(heads), safe: side.ref }] : []),
    ...(left ? [refsOf({ unsafe: left, safe: left, finalized })] : []),
    ...(safe.ref.number < unsafe.ref.number ? [{ ...refsOf(heads), finalized: unsafe.ref }] : []),
  ]
  try {
    await run.node.execution.setHeads(pick(roll, wrong))
  } catch (error) {
    if (isFault(error, 'INVALID_FORKCHOICE')) return
    throw error
  }
  holds('wrong heads are refused', false)
}

/** Compares open blocks of any branch by hash, and storage roots. */
async function checkSides(roll: Roll, run: ModelRun): Promise<void> {
  const { chain, node } = run
  for (let i = 0; i < 3; i++) {
    const wanted = pick(roll, chain.open)
    const block = await run.known(wanted)
    if (block !== wanted) continue
    using view = node.execution.view()
    checkBlock(view, block, run.expected)
    checkState(roll, view, block)
    const address = pick(roll, knownAddresses)
    same(`storage root of ${address}`, await node.execution.storageRoot(address, block.ref), expectedStorageRoot(block.world, address))
  }
  for (const block of chain.abandoned.slice(-2)) {
    const payload = await node.execution.payload(block.ref.hash)
    if (payload) same('an abandoned block', payload, block.payload)
  }
}

/** Finalizes blocks, commits, and removes older states, all of them or a part. May kill the process meanwhile. */
async function prune(roll: Roll, run: ModelRun): Promise<void> {
  await finalize(roll, run)
  if (roll(2) === 0) run.node.killInPruning({ at: roll(2), when: roll(2) === 0 ? 'before' : 'after' })
  run.commit()
  await run.runTimers(1 + roll(6))
}

/** The retention of the next process. */
const nextRetention = (roll: Roll, run: ModelRun): Retention | undefined => (roll(2) === 0 ? run.node.retention : anyRetention(roll))

function anyDeath(roll: Roll): Death | undefined {
  return roll(3) === 0 ? undefined : { at: roll(40), when: roll(2) === 0 ? 'before' : 'after' }
}

/** Records proofs of committed blocks; sometimes older ones are wanted. */
function record(roll: Roll, run: ModelRun): void {
  if (roll(4) === 0) {
    const wanted = roll(run.chain.canonical.length)
    run.node.proofs.write((tx) => writeWanted(tx, wanted))
  }
  run.record(1 + roll(6), roll(40))
}

/** Ends the process; sometimes the operator removes its recorded proofs. */
async function restart(how: 'closed' | 'killed', roll: Roll, run: ModelRun): Promise<void> {
  const [death, retention] = [anyDeath(roll), nextRetention(roll, run)]
  run.node.losesProofs = roll(6) === 0
  if (roll(2) === 0) run.node.rows = anyRows(roll)
  await run.restart(how, death, retention)
}

type Step = { readonly weight: number; readonly run: (roll: Roll, run: ModelRun) => Promise<void> | void }

/** What happens, how often, by a short name. Checks are steps too, so that a minimised list ends with the one that fails. */
const kinds = {
  advance: { weight: 14, run: advance },
  build: { weight: 14, run: buildAnywhere },
  insert: { weight: 8, run: insertBranch },
  again: { weight: 4, run: insertAgain },
  invalid: { weight: 4, run: insertInvalid },
  reorg: { weight: 10, run: reorg },
  finalize: { weight: 3, run: finalize },
  wrongHeads: { weight: 2, run: setWrongHeads },
  commit: { weight: 5, run: (_roll, run) => run.commit() },
  timers: { weight: 8, run: (roll, run) => run.runTimers(1 + roll(5)) },
  hold: { weight: 3, run: (_roll, run) => run.holdView() },
  held: { weight: 4, run: (roll, run) => run.checkHeldView(roll) },
  view: { weight: 12, run: (roll, run) => run.check(roll) },
  sides: { weight: 6, run: checkSides },
  restart: { weight: 3, run: (roll, run) => restart('closed', roll, run) },
  kill: { weight: 3, run: (roll, run) => restart('killed', roll, run) },
  prune: { weight: 8, run: prune },
  record: { weight: 10, run: record },
  proofs: { weight: 6, run: checkProofs },
  move: { weight: 6, run: (roll, run) => run.move(1 + roll(40)) },
} satisfies Record<string, Step>

export type StepKind = keyof typeof kinds
/** A step of a run. Its seed decides all of its choices, so that it does much the same when earlier steps are removed. */
export type PlannedStep = { readonly kind: StepKind; readonly seed: number }

const bag: readonly StepKind[] = (Object.keys(kinds) as StepKind[]).flatMap((kind) => Array<StepKind>(kinds[kind].weight).fill(kind))

export function planSteps(roll: Roll, count: number): PlannedStep[] {
  return Array.from({ length: count }, () => ({ kind: pick(roll, bag), seed: roll(2 ** 31) }))
}

export const isStepKind = (name: string): name is StepKind => Object.hasOwn(kinds, name)

/** Runs a step. When a kill ends it, the next process starts. Afterwards heads and newest hashes are compared. */
export async function runStep(run: ModelRun, { kind, seed }: PlannedStep): Promise<void> {
  const step: Step = kinds[kind]
  try {
    await step.run(dice(seed), run)
  } catch (error) {
    if (!run.node.isDead) throw error
  }
  if (run.node.isDead) await run.revive()
  using view = run.node.execution.view()
  checkHeads(view, run.expected)
  run.checkOldest(view)
}
