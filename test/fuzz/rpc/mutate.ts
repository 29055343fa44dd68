import type { Random } from '../evm/random.ts'
import type { Held } from './messages.ts'

const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
const longHexBytes = 100_000

/** Values that parsers often handle wrongly. */
const hostile: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 53, 1e300, '', ' ', '0x', '0X1', '0x0', '0x00', '0xg', '0x-1', '-0x1', '1', 'ff', 'latest'],
  ...['pending', 'earliest', 'safe', 'finalized', 'Latest', '0xffffffffffffffff', '0x10000000000000000', `0x${'f'.repeat(64)}`],
  ...[`0x${'f'.repeat(65)}`, `0x1${'0'.repeat(64)}`, `0x${'ab'.repeat(longHexBytes)}`, `0x${'00'.repeat(20)}`, `0x${'00'.repeat(32)}`],
  ...['\u0000', '\ud800', 'é'.repeat(40), '__proto__', 'constructor', 'toString', {}, [], [[]], [null], [{}], { a: { b: [] } }],
  ...[{ blockNumber: '0x1' }, { blockHash: '0x' }, { tracer: 'callTracer' }, { tracer: '{}' }, { timeout: '-1s' }, deep(300)],
  ...[Array(2_000).fill('0x0'), { ['x'.repeat(1_000)]: 1 }, { fromBlock: '0x0', toBlock: 'latest' }, { balance: '0x' }],
]
const names = [
  ...['from', 'to', 'gas', 'gasPrice', 'value', 'data', 'input', 'nonce', 'type', 'accessList', 'blockHash', 'blockNumber', 'address'],
  ...['topics', 'fromBlock', 'toBlock', 'balance', 'code', 'state', 'stateDiff', 'movePrecompileToAddress', 'time', 'number', 'tracer'],
  ...['blockStateCalls', 'calls', 'stateOverrides', 'blockOverrides', 'validation', 'transactions', '__proto__', 'toString'],
]

/** Replaces a text by an existing hash or address of the same form. */
function real(text: string, random: Random, held: Held): string {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return random.pick(held.hashes)
  if (/^0x[0-9a-f]{40}$/i.test(text)) return random.pick(held.addresses)
  if (/^0x[0-9a-f]{200,}$/i.test(text)) return random.pick(held.raws)
  return /^0x[0-9a-f]{1,8}$/i.test(text) ? `0x${random.below(8).toString(16)}` : text
}

/** Replaces hashes and addresses in an example by existing ones. */
export function grounded(value: unknown, random: Random, held: Held): unknown {
  if (typeof value === 'string') return random.percent(80) ? real(value, random, held) : value
  if (Array.isArray(value)) return value.map((item: unknown) => grounded(item, random, held))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, grounded(item, random, held)]))
}

function mutateText(text: string, random: Random): string {
  const at = random.below(text.length + 1)
  return random.pick([
    () => text.slice(0, at),
    () => text.slice(0, at) + text.slice(at + 1),
    () => text + random.pick(['0', 'f', 'g', ' ', '00']),
    () => text.toUpperCase(),
    () => text.replace('0x', ''),
    () => `0x${text}`,
    () => text.slice(0, at) + random.pick(['0', 'e', 'z', '\n', '"']) + text.slice(at + 1),
  ])()
}

function mutateList(list: readonly unknown[], random: Random): unknown {
  const at = random.below(list.length + 1)
  return random.pick([
    () => list.toSpliced(at, 1),
    () => list.toSpliced(at, 0, random.pick(hostile)),
    () => [...list, ...list],
    () => list.toReversed(),
    () => list.map((item, index) => (index === at ? mutated(item, random) : item)),
    () => list.map((item, index) => (index === 0 ? mutated(item, random) : item)),
  ])()
}

function mutateObject(object: object, random: Random): unknown {
  const entries = Object.entries(object)
  const at = random.below(entries.length + 1)
  return Object.fromEntries(
    random.pick([
      () => entries.toSpliced(at, 1),
      () => [...entries, [random.pick(names), random.pick(hostile)]],
      () => entries.map(([name, value], index) => [index === at ? random.pick(names) : name, value]),
      () => entries.map(([name, value], index) => [name, index === at ? mutated(value, random) : value]),
    ])() as [string, unknown][],
  )
}

/** Returns a value that differs from the given one slightly or completely. */
export function mutated(value: unknown, random: Random): unknown {
  if (random.percent(25)) return random.pick(hostile)
  if (typeof value === 'string') return mutateText(value, random)
  if (Array.isArray(value)) return mutateList(value, random)
  if (typeof value === 'object' && value !== null) return mutateObject(value, random)
  return random.pick(hostile)
}

/** Returns a text with some characters changed, cut or doubled. */
export function mutatedBody(text: string, random: Random): string {
  const at = random.below(text.length + 1)
  return random.pick([
    () => text.slice(0, at),
    () => text.slice(0, at) + random.pick(['{', '}', '[', ']', '"', ',', ':', '\\', '\u0001', '1e999', 'NaN']) + text.slice(at),
    () => text.slice(0, at) + text.slice(at + 1 + random.below(5)),
    () => text + text,
    () => '['.repeat(5_000) + text,
    () => text.replace('"2.0"', random.pick(['"1.0"', '2', 'null', '"2.0","jsonrpc":"2.0"'])),
  ])()
}
