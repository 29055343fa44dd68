import { rpcCall } from '#test/harness/process/cliProcess'
import type { Server } from './servers.ts'

/** Contents of the chain that requests can refer to. */
export type Facts = {
  readonly head: number
  /** blocks of about 800 transactions, oldest first */
  readonly blocks: readonly { readonly number: number; readonly hash: string; readonly transactions: readonly string[] }[]
  /** senders and receivers */
  readonly accounts: readonly string[]
  /** receivers of ether and of tokens */
  readonly receivers: readonly string[]
  /** the contract with most logs, and its callers */
  readonly token: string
  readonly holders: readonly string[]
}

const fewestTransactions = 500
const transferSelector = '0xa9059cbb'
const depositType = '0x7e'

type TransactionJson = {
  readonly hash: string
  readonly from: string
  readonly to?: string | null
  readonly type: string
  readonly input: string
}
type BlockJson = { readonly hash: string; readonly transactions: readonly TransactionJson[] }

export async function readFacts(server: Server): Promise<Facts> {
  const head = Number(await rpcCall(server.url, 'eth_blockNumber'))
  const blocks: Facts['blocks'][number][] = []
  const accounts = new Set<string>()
  const receivers = new Set<string>()
  const callers = new Map<string, Set<string>>()
  for (let number = 1; number <= head; number++) {
    const block = (await rpcCall(server.url, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, true])) as BlockJson
    if (block.transactions.length < fewestTransactions) continue
    blocks.push({ number, hash: block.hash, transactions: block.transactions.map(({ hash }) => hash) })
    for (const { from, to, type, input } of block.transactions) {
      accounts.add(from)
      if (!to) continue
      accounts.add(to)
      if (type !== depositType) receivers.add(input.startsWith(transferSelector) ? `0x${input.slice(34, 74)}` : to)
      const known = callers.get(to)
      if (known) known.add(from)
      else callers.set(to, new Set([from]))
    }
  }
  const token = await loudest(server, head)
  return { head, blocks, accounts: [...accounts], receivers: [...receivers], token, holders: [...(callers.get(token) ?? [])] }
}

/** Returns the contract with most logs in a block. */
async function loudest(server: Server, number: number): Promise<string> {
  const block = `0x${number.toString(16)}`
  const logs = (await rpcCall(server.url, 'eth_getLogs', [{ fromBlock: block, toBlock: block }])) as readonly { address: string }[]
  const counts = Map.groupBy(logs, ({ address }) => address)
  return [...counts].sort(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? ''
}
