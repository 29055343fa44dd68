import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import { ethRegistry } from '#rpc/methods'
import { causes, type Known } from '#test/harness/flashblocks/causes'
import {
  createReplay,
  type Happening,
  type RecordedAnswer,
  type Replay,
  readFlashblocks,
  readPolls,
  readSealedChain,
  readTold,
} from '#test/harness/flashblocks/replay'
import { mismatch } from '#test/harness/rpc/schemaJudge'
import { zeroHash } from '#types/ids'

const sealed = await readSealedChain()
const frames = readFlashblocks()
const told = readTold()
const heads = told.flatMap(({ t, kind, result }): Happening[] =>
  kind === 1 ? [{ t, kind: 'head', number: Number((result as { number: string }).number) }] : [],
)
const recordedFlashblocks = told.filter(({ kind }) => kind === 2)

/** Events in order, with the flashblocks at the times that `timeOf` returns. */
function timeline(timeOf: (index: number, sentAt: number) => number): readonly Happening[] {
  const flashblocks = frames.map(({ t, flashblock }, index): Happening => ({ t: timeOf(index, t), kind: 'flashblock', flashblock }))
  return [...heads, ...flashblocks].sort((a, b) => a.t - b.t)
}

/** Node to which events happen at their times. */
class Course {
  readonly node: Replay = createReplay()
  readonly #happenings: readonly Happening[]
  #next = 0

  constructor(happenings: readonly Happening[]) {
    this.#happenings = happenings
  }

  /** Applies the next event up to a time. @returns true when there was one */
  async step(until: number): Promise<boolean> {
    const next = this.#happenings[this.#next]
    if (next === undefined || next.t > until) return false
    this.#next++
    await this.node.happen(next)
    return true
  }
}

/** Compares a result. @returns `equal`, or the names of the known causes of its difference; undefined for an unknown difference */
async function judge(node: Replay, { m, p, r: theirs }: RecordedAnswer): Promise<string | undefined> {
  const ours = await node.ask(m, p)
  if (isDeepStrictEqual(ours, theirs)) return 'equal'
  const known: Known = { sealed, latest: Number(await node.ask('eth_blockNumber', [])) }
  const by: string[] = []
  let righted: unknown = theirs
  for (const { name, right } of causes) {
    const next = right(righted, known)
    if (!isDeepStrictEqual(next, righted)) by.push(name)
    righted = next
  }
  return by.length > 0 && isDeepStrictEqual(righted, ours) ? by.join(', ') : undefined
}

const gone = 'the recorded node was not running'
/** Result that is equal only once the recorded node had received the flashblock. */
const late = 'late'

/** Results of the recorded polls that are not equal: method and block, cause, number. */
type Row = readonly [request: string, cause: string, count: number]
const polled = ['BlockByNumber', 'TransactionCount', 'Balance'].flatMap((of) => [`eth_get${of} pending`, `eth_get${of} latest`])
const notRunning: readonly Row[] = [
  ...[...polled, 'eth_call pending', 'eth_call latest', 'eth_getLogs pending'],
  ...['eth_getBlockTransactionCountByNumber pending', 'eth_estimateGas pending'],
].map((request) => [request, gone, 3])
const [pendingLogs, receipt] = ['eth_getLogs pending', 'eth_getTransactionReceipt pending']
const [stay, parent, fee] = causes.map(({ name }) => name)
const divergences: readonly Row[] = [
  ['eth_getBlockByNumber pending', late, 2],
  [pendingLogs, `${parent}`, 48],
  [pendingLogs, `${stay}`, 169],
  [pendingLogs, `${stay}, ${parent}`, 96],
  [receipt, `${parent}`, 6],
  [receipt, `${fee}`, 51],
  [receipt, `${parent}, ${fee}`, 1],
]
const sorted = (rows: readonly Row[]): readonly Row[] => rows.toSorted((a, b) => (`${a}` < `${b}` ? -1 : 1))

/** Best verdict on each result of a poll over all instants of the poll. */
class Verdicts {
  readonly #answers: readonly RecordedAnswer[]
  readonly #found: (string | undefined)[]

  constructor(answers: readonly RecordedAnswer[]) {
    this.#answers = answers
    this.#found = answers.map(({ e }) => (e === undefined ? undefined : gone))
  }

  get isOpen(): boolean {
    return this.#found.includes(undefined)
  }

  /** Compares the results with those of a node in its present state. */
  async look({ node }: Course, name = 'equal'): Promise<void> {
    for (const [index, answer] of this.#answers.entries()) {
      const before = this.#found[index]
      if (before === 'equal' || before === gone) continue
      const verdict = await judge(node, answer)
      this.#found[index] = verdict === 'equal' ? name : (before ?? verdict)
    }
  }

  countInto(counts: Map<string, Record<string, number>>): void {
    for (const [index, { m, p }] of this.#answers.entries()) {
      const row = `${m} ${p.includes('latest') ? 'latest' : 'pending'}`
      const verdict = this.#found[index] ?? 'failed'
      const of = counts.get(row) ?? {}
      counts.set(row, { ...of, [verdict]: (of[verdict] ?? 0) + 1 })
    }
  }

  /** Results that are not equal at any instant. */
  get failed(): readonly RecordedAnswer[] {
    return this.#answers.filter((_answer, index) => this.#found[index] === undefined)
  }
}

it('flashblocks: gives each recorded result of a node that followed a stream at some instant of the poll', async () => {
  const published = new Course(timeline((_index, sentAt) => sentAt))
  /** The flashblocks at the time when the recorded node had them: when it notified its subscribers. */
  const arrived = new Course(timeline((index, sentAt) => Math.max(sentAt, recordedFlashblocks[index]?.t ?? sentAt)))
  const counts = new Map<string, Record<string, number>>()
  const failed: unknown[] = []
  for (const { t, end, a } of readPolls()) {
    const verdicts = new Verdicts(a)
    while (await published.step(t));
    while (await arrived.step(t));
    await verdicts.look(published)
    while (await published.step(end)) await verdicts.look(published)
    if (verdicts.isOpen) await verdicts.look(arrived, late)
    while (await arrived.step(end)) await verdicts.look(arrived, late)
    verdicts.countInto(counts)
    failed.push(...verdicts.failed.map((answer) => ({ t, end, ...answer })))
  }
  expect(failed).toEqual([])
  const rows = [...counts].flatMap(([request, of]) => Object.entries(of).map(([cause, count]): Row => [request, cause, count]))
  expect(sorted(rows.filter(([, cause]) => cause !== 'equal'))).toEqual(sorted([...notRunning, ...divergences]))
})

it('flashblocks: serves latest as pending once the last flashblock of the recorded stream is too old', async () => {
  const maxAgeMs = 4_000
  const node = createReplay(maxAgeMs)
  for (const happening of timeline((_index, sentAt) => sentAt)) await node.happen(happening)
  const methods = readPolls()[0]?.a.filter(({ p }) => p.includes('pending')) ?? []
  const ask = (tag: string): Promise<unknown[]> =>
    Promise.all(
      methods.map(({ m, p }) =>
        node.ask(
          m,
          p.map((each) => (each === 'pending' ? tag : each)),
        ),
      ),
    )
  const numberOf = async (tag: string): Promise<unknown> =>
    Number(((await node.ask('eth_getHeaderByNumber', [tag])) as { number: string }).number)
  const sinceLast = (heads.at(-1)?.t ?? 0) - (frames.at(-1)?.t ?? 0)
  node.passMs(maxAgeMs - sinceLast)
  expect([await numberOf('latest'), await numberOf('pending')]).toEqual([45, 46])
  node.passMs(1)
  expect(await numberOf('pending')).toBe(45)
  expect(methods.length).toBeGreaterThan(5)
  expect(await ask('pending')).toEqual(await ask('latest'))
})

const token = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const sender = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const mint = { from: sender, to: token, data: `0x40c10f19${sender.slice(2).toLowerCase().padStart(64, '0')}${'2a'.padStart(64, '0')}` }
/** Requests about a block whose result is the same before and after it is sealed; `pending` is the block parameter. */
const questions: readonly (readonly [string, ...unknown[]])[] = [
  ['eth_getBalance', sender, 'pending'],
  ['eth_getTransactionCount', sender, { blockNumber: 'pending' }],
  ['eth_getCode', token, 'pending'],
  ['eth_getStorageAt', token, '0x2', 'pending'],
  ['eth_getStorageValues', { [token]: ['0x0', '0x1', '0x2'] }, 'pending'],
  ['eth_getAccount', token, 'pending'],
  ['eth_getAccountInfo', token, 'pending'],
  ['eth_getProof', token, ['0x2'], 'pending'],
  ['eth_call', mint, 'pending'],
  ['eth_call', { to: token, data: '0x18160ddd' }, 'pending', { [sender]: { balance: '0x1' } }],
  ['eth_call', { data: '0x4360005242602052446040524860605260806000f3' }, 'pending'], // NUMBER, TIMESTAMP, PREVRANDAO, BASEFEE
  ['eth_estimateGas', mint, 'pending'],
  ['eth_createAccessList', mint, 'pending'],
  ['eth_callMany', [{ transactions: [mint, { to: token, data: '0x18160ddd' }] }], { blockNumber: 'pending' }],
  ['debug_traceCallMany', [{ transactions: [mint, mint] }], { blockNumber: 'pending' }, { tracer: 'callTracer' }],
  ['trace_callMany', [[mint, ['trace']], [mint, ['stateDiff']]], 'pending'], // biome-ignore format: a table
  ['debug_traceCall', mint, 'pending', { tracer: 'callTracer' }],
  ['debug_traceBlockByNumber', 'pending', { tracer: 'callTracer' }],
  ['debug_traceBlockByNumber', 'pending', { tracer: 'prestateTracer', tracerConfig: { diffMode: true } }],
  ['trace_call', mint, ['trace', 'stateDiff'], 'pending'],
  ['trace_block', 'pending'],
  ['trace_replayBlockTransactions', 'pending', ['trace']],
  ['trace_blockOpcodeGas', 'pending'],
  ['eth_getBlockTransactionCountByNumber', 'pending'],
  ['eth_getUncleCountByBlockNumber', 'pending'],
  ['eth_getTransactionByBlockNumberAndIndex', 'pending', '0x1'],
  ['eth_getRawTransactionByBlockNumberAndIndex', 'pending', '0x1'],
  ['eth_getBlockByNumber', 'pending', true],
  ['eth_getBlockByNumber', 'pending', false],
  ['eth_getHeaderByNumber', 'pending'],
  ['eth_getBlockReceipts', 'pending'],
  ['debug_getRawReceipts', 'pending'],
  ['debug_getRawTransactions', 'pending'],
  ['eth_getLogs', { fromBlock: 'pending', toBlock: 'pending' }],
  ['eth_simulateV1', { blockStateCalls: [{ calls: [mint] }], returnFullTransactions: true }, 'pending'],
]

const at = (place: unknown, number: string): unknown => {
  if (place === 'pending') return number
  if (Array.isArray(place)) return place.map((each) => at(each, number))
  if (typeof place !== 'object' || place === null) return place
  return Object.fromEntries(Object.entries(place).map(([key, each]) => [key, at(each, number)]))
}

/** Removes the fields that only a sealed block has, or that publishers omit from a stream. */
function unsealed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unsealed)
  if (typeof value !== 'object' || value === null) return value
  const { blockHash: _block, stateRoot: _root, size: _size, ...rest } = value as Record<string, unknown>
  const isBlock = 'transactionsRoot' in rest || ('parentHash' in rest && 'calls' in rest)
  const kept = isBlock ? { ...rest, hash: undefined, ...('calls' in rest && { parentHash: undefined }) } : rest
  return Object.fromEntries(Object.entries(kept).map(([key, each]) => [key, unsealed(each)]))
}

it.each([0, 1])(
  'flashblocks: serves a recorded pending block with all its flashblocks like the sealed one, above %i pending blocks',
  async (below) => {
    const number = 20
    const node = createReplay()
    for (let head = 1; head < number - below; head++) await node.happen({ t: 0, kind: 'head', number: head })
    for (const { flashblock } of frames)
      if (flashblock.blockNumber >= number - below && flashblock.blockNumber <= number)
        await node.happen({ t: 0, kind: 'flashblock', flashblock })
    const answers = (place: string): Promise<unknown[]> =>
      Promise.all(
        questions.map(([method, ...params]) =>
          node
            .ask(
              method,
              params.map((each) => at(each, place)),
            )
            .catch((error: unknown) => error),
        ),
      )
    const [before, text] = await answers('pending').then((all) => [all, JSON.stringify(all)] as const)
    for (let head = number - below; head <= number; head++) await node.happen({ t: 0, kind: 'head', number: head })
    const after = await answers(`0x${number.toString(16)}`)
    for (const [index, question] of questions.entries())
      expect([question, unsealed(before[index])]).toEqual([question, unsealed(after[index])])
    expect(before.filter((answer) => answer instanceof Error)).toEqual([])
    const mismatches = questions.map(([method], index) => mismatch(ethRegistry.get(method)?.result.schema ?? {}, before[index]))
    expect(mismatches.filter((why) => why !== undefined)).toEqual([])
    expect(text).toContain(`"blockHash":"${zeroHash}"`)
    const hashes = (of: string): readonly string[] => of.match(/0x[0-9a-f]{64}(?=")/g) ?? []
    const known = new Set(hashes(JSON.stringify(after)))
    const own = new Set(hashes(text).filter((hash) => hash !== zeroHash && !known.has(hash)))
    expect(own.size).toBe(1) // id of the simulated block, which clients do not see since its parent has no hash
  },
)

const subscriptions: readonly (readonly [kind: number, ...params: unknown[]])[] = [
  [2, 'newFlashblocks'],
  [3, 'pendingLogs'],
  [4, 'newFlashblockTransactions'],
  [5, 'newFlashblockTransactions', true],
]

it('flashblocks: emits the recorded events of subscriptions in the same order', async () => {
  const node = createReplay()
  const events = await Promise.all(subscriptions.map(([, ...params]) => node.subscribe(...params)))
  for (const happening of timeline((_index, sentAt) => sentAt)) await node.happen(happening)
  for (const [at, [kind]] of subscriptions.entries()) {
    const ours = events[at] ?? []
    const expected = told.filter((each) => each.kind === kind).map(({ result }) => result)
    const right = (theirs: unknown): unknown => causes.reduce((value, cause) => cause.right(value, { latest: 0, sealed }), theirs)
    expect([kind, ours]).toEqual([kind, expected.map(right)])
  }
})

it('flashblocks: emits the logs of a dropped pending block as removed to the subscribers that received them', async () => {
  const number = 33
  const node = createReplay()
  for (let head = 1; head < number; head++) await node.happen({ t: 0, kind: 'head', number: head })
  const ofBlock = frames.filter(({ flashblock }) => flashblock.blockNumber === number)
  const all = await node.subscribe('pendingLogs')
  for (const { flashblock } of ofBlock.slice(0, 4)) await node.happen({ t: 0, kind: 'flashblock', flashblock })
  const before = all.length
  const late = await node.subscribe('pendingLogs')
  for (const { flashblock } of ofBlock.slice(4)) await node.happen({ t: 0, kind: 'flashblock', flashblock })
  const told = all.slice()
  const removed = (of: readonly unknown[]): unknown[] => of.map((log) => ({ ...(log as object), removed: true }))
  await node.drop()
  expect([before > 0, told.length > before]).toEqual([true, true])
  expect(all.slice(told.length)).toEqual(removed(told))
  expect(late).toEqual([...told.slice(before), ...removed(told.slice(before))])
  expect(await node.ask('eth_getLogs', [{ fromBlock: 'latest', toBlock: 'pending' }])).toEqual(
    await node.ask('eth_getLogs', [{ fromBlock: 'latest', toBlock: 'latest' }]),
  )
})
