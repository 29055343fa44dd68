import { rpcCall } from '#test/harness/process/cliProcess'
import type { Server } from './servers.ts'

/** Contents of the chain that requests can refer to. */
export type Facts = {
  readonly head: number
  /** blocks of about 800 transactions, oldest first */
  readonly blocks: readonly { readonly number: number; readonly hash: string; readonly transactions: readonly string[] }[]
  /** senders and receivers */
  readonly accounts: readonly string[]
  /** the contract with most logs, and its caller */
  readonly token: string
  readonly holders: readonly string[]
}

/** One line of the table: the request, and base-reth-node's responses a second on the recording machine. */
export type BenchRow = {
  readonly name: string
  readonly baseReth: number
  /** target of the factor */
  readonly goal: number
  readonly connections: 4 | 32
  /** multiplier of the duration of a run: responses are few */
  readonly lengthened?: number
  /** bodies of requests, over the whole chain */
  readonly bodies: (facts: Facts) => readonly string[]
  /** the same for anvil, which has none of these blocks */
  readonly anvil?: (accounts: readonly string[]) => readonly string[]
}

const fewestTransactions = 500

type BlockJson = { readonly hash: string; readonly transactions: readonly { hash: string; from: string; to?: string | null }[] }

export async function readFacts(server: Server): Promise<Facts> {
  const head = Number(await rpcCall(server.url, 'eth_blockNumber'))
  const blocks: Facts['blocks'][number][] = []
  const accounts = new Set<string>()
  const callers = new Map<string, Set<string>>()
  for (let number = 1; number <= head; number++) {
    const block = (await rpcCall(server.url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, true])) as BlockJson
    if (block.transactions.length < fewestTransactions) continue
    blocks.push({ number, hash: block.hash, transactions: block.transactions.map(({ hash }) => hash) })
    for (const { from, to } of block.transactions) {
      accounts.add(from)
      if (!to) continue
      accounts.add(to)
      const known = callers.get(to)
      if (known) known.add(from)
      else callers.set(to, new Set([from]))
    }
  }
  const token = await loudest(server, head)
  return { head, blocks, accounts: [...accounts], token, holders: [...(callers.get(token) ?? [])] }
}

/** Returns the contract with most logs in the last block. */
async function loudest(server: Server, number: number): Promise<string> {
  const block = `0x${number.toString(16)}`
  const logs = (await rpcCall(server.url, 'eth_getLogs', [{ fromBlock: block, toBlock: block }])) as readonly { address: string }[]
  const counts = Map.groupBy(logs, ({ address }) => address)
  return [...counts].sort(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? ''
}

const most = 40_000

/** A random choice of at most `most` parameters, as bodies. */
function bodiesOf(method: string, all: readonly (readonly unknown[])[]): readonly string[] {
  const chosen = all.length <= most ? all : Array.from({ length: most }, () => all[Math.floor(Math.random() * all.length)] ?? [])
  return chosen.map((params, id) => JSON.stringify({ jsonrpc: '2.0', id, method, params }))
}

const hex = (number: number): string => `0x${number.toString(16)}`
const balanceOf = (holder: string): string => `0x70a08231${holder.slice(2).padStart(64, '0')}`
const constant = (method: string): Pick<BenchRow, 'bodies' | 'anvil'> => ({
  bodies: () => bodiesOf(method, [[]]),
  anvil: () => bodiesOf(method, [[]]),
})
const callTracer = { tracer: 'callTracer' }
/** minimum age in blocks for the row about old proofs */
const proofDistance = 22

function logsOver(facts: Facts, span: number): readonly string[] {
  const starts = Array.from({ length: Math.max(1, facts.blocks.length - span + 1) }, (_, at) => facts.blocks[at]?.number ?? 1)
  return bodiesOf(
    'eth_getLogs',
    starts.map((from) => [{ address: facts.token, fromBlock: hex(from), toBlock: hex(Math.min(facts.head, from + span - 1)) }]),
  )
}

function proofs({ accounts }: Facts, blocks: readonly string[]): readonly string[] {
  return bodiesOf(
    'eth_getProof',
    accounts.map((address, at) => [address, [], blocks[at % blocks.length]]),
  )
}

/** The table of the data's README: base-reth-node's responses a second on two cores that it shared with the load generator. */
export const benchRows: readonly BenchRow[] = [
  { name: 'eth_blockNumber', baseReth: 48_247, goal: 1, connections: 32, ...constant('eth_blockNumber') },
  { name: 'eth_chainId', baseReth: 47_016, goal: 1, connections: 32, ...constant('eth_chainId') },
  {
    ...{ name: 'eth_getBlockByNumber, full', baseReth: 539, goal: 1, connections: 4 },
    bodies: ({ blocks }) =>
      bodiesOf(
        'eth_getBlockByNumber',
        blocks.map(({ number }) => [hex(number), true]),
      ),
  },
  {
    ...{ name: 'eth_getBlockByNumber, hashes', baseReth: 9_600, goal: 1, connections: 32 },
    bodies: ({ blocks }) =>
      bodiesOf(
        'eth_getBlockByNumber',
        blocks.map(({ number }) => [hex(number), false]),
      ),
  },
  {
    ...{ name: 'eth_getBalance', baseReth: 26_740, goal: 1, connections: 32 },
    bodies: ({ accounts }) =>
      bodiesOf(
        'eth_getBalance',
        accounts.map((address) => [address, 'latest']),
      ),
    anvil: (accounts) =>
      bodiesOf(
        'eth_getBalance',
        accounts.map((address) => [address, 'latest']),
      ),
  },
  {
    ...{ name: 'eth_getTransactionReceipt', baseReth: 2_914, goal: 5, connections: 32 },
    bodies: ({ blocks }) =>
      bodiesOf(
        'eth_getTransactionReceipt',
        blocks.flatMap(({ transactions }) => transactions.map((hash) => [hash])),
      ),
  },
  {
    ...{ name: 'eth_getBlockReceipts', baseReth: 268, goal: 1, connections: 4 },
    bodies: ({ blocks }) =>
      bodiesOf(
        'eth_getBlockReceipts',
        blocks.map(({ number }) => [hex(number)]),
      ),
  },
  {
    ...{ name: 'eth_call balanceOf', baseReth: 14_519, goal: 1, connections: 32 },
    bodies: ({ holders, token }) =>
      bodiesOf(
        'eth_call',
        holders.map((holder) => [{ to: token, data: balanceOf(holder) }, 'latest']),
      ),
  },
  {
    ...{ name: 'eth_estimateGas of a transfer', baseReth: 12_108, goal: 1, connections: 32 },
    bodies: ({ holders }) =>
      bodiesOf(
        'eth_estimateGas',
        holders.map((from, at) => [{ from, to: holders[(at + 1) % holders.length], value: '0x1' }]),
      ),
  },
  { name: 'eth_getLogs by address, 1 block', baseReth: 1_673, goal: 1, connections: 4, bodies: (facts) => logsOver(facts, 1) },
  { name: 'eth_getLogs by address, 40 blocks', baseReth: 37, goal: 1, connections: 4, bodies: (facts) => logsOver(facts, 40) },
  { name: 'eth_getProof, latest', baseReth: 3_792, goal: 1, connections: 32, bodies: (facts) => proofs(facts, ['latest']) },
  {
    ...{ name: 'eth_getProof, 22 blocks back and more', baseReth: 20.8, goal: 20, connections: 4 },
    bodies: (facts) =>
      proofs(
        facts,
        facts.blocks.flatMap(({ number }) => (number <= facts.head - proofDistance ? [hex(number)] : [])),
      ),
  },
  {
    ...{ name: 'debug_traceTransaction callTracer, 100th in its block', baseReth: 144, goal: 5, connections: 4, lengthened: 4 },
    bodies: ({ blocks }) =>
      bodiesOf(
        'debug_traceTransaction',
        blocks.map(({ transactions }) => [transactions[99], callTracer]),
      ),
  },
  {
    ...{ name: 'debug_traceTransaction callTracer, any', baseReth: 144, goal: 5, connections: 4, lengthened: 4 },
    bodies: ({ blocks }) =>
      bodiesOf(
        'debug_traceTransaction',
        blocks.flatMap(({ transactions }) => transactions.slice(1).map((hash) => [hash, callTracer])),
      ),
  },
  {
    ...{ name: 'debug_executionWitness', baseReth: 6.5, goal: 3, connections: 4, lengthened: 4 },
    bodies: ({ blocks }) =>
      bodiesOf(
        'debug_executionWitness',
        blocks.map(({ number }) => [hex(number)]),
      ),
  },
]
