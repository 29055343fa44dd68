// The transaction pool compared with a simple one: all transactions in one sorted array, every account read again after each head. Neither side
// recovers signatures. Times are CPU times of the thread, its garbage collection included.
import type { HeadRecord } from '#blockchain/heads/headRecord'
import { drain, type PoolAccountState, PoolChain, poolAccount, poolTransaction } from '#test/harness/chain/poolChain'
import type { Address, Hash } from '#types/ids'
import { decodeTransaction, type FeeMarketTransaction, hashTransaction } from '#types/transaction'
import { type Row, row } from './format.ts'

const count = 10_000
const included = 2_000
const batch = 100
const rounds = 9
/** instances of the pool in one measurement: the CPU clock of a thread is coarse */
const drains = 5
const baseFee = 1_000n

type Side = {
  add(raws: readonly Uint8Array[]): void
  /** @returns the number of transactions for a block */
  best(): number
  onPublished(record: HeadRecord): void
}

/** L1 prices as Fjord reads them: the fee of each transaction needs its estimated size. */
function pricedChain(): PoolChain {
  const chain = new PoolChain()
  const slot = (index: number): Hash => `0x${index.toString(16).padStart(64, '0')}` as Hash
  chain.slots.set(slot(1), 20_000_000_000n).set(slot(7), 3_000_000_000n)
  chain.slots.set(slot(3), (2_269n << 96n) | (1_055_762n << 64n))
  return chain
}

function pool(chain: PoolChain): Side {
  const tested = chain.pool({ maxBytes: 2 ** 27 })
  return {
    add: (raws) => void tested.add(raws),
    best: () => drain(tested, baseFee, 'counted').length,
    onPublished: (record) => tested.onPublished(record),
  }
}

type Plain = { readonly sender: Address; readonly hash: Hash; readonly tx: FeeMarketTransaction; readonly tip: bigint }

/** The simple pool: correct, and linear in the number of transactions. */
function plain(chain: PoolChain): Side {
  let all: Plain[] = []
  const known = new Set<Hash>()
  const stateOf = (address: Address): PoolAccountState => chain.account(address)
  const insert = (list: Plain[], item: Plain): void => {
    let [low, high] = [0, list.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((list[middle]?.tip ?? 0n) >= item.tip) low = middle + 1
      else high = middle
    }
    list.splice(low, 0, item)
  }
  return {
    add(raws): void {
      for (const raw of raws) {
        const hash = hashTransaction(raw)
        if (known.has(hash)) continue
        const tx = decodeTransaction(raw) as FeeMarketTransaction
        const sender = poolAccount(Number(tx.r - 1n))
        const { nonce, balance } = stateOf(sender)
        if (tx.nonce < nonce || balance < tx.gasLimit * tx.maxFeePerGas + tx.value) continue
        const room = tx.maxFeePerGas - baseFee
        known.add(hash)
        insert(all, { sender, hash, tx, tip: tx.maxPriorityFeePerGas < room ? tx.maxPriorityFeePerGas : room })
      }
    },
    best(): number {
      const bySender = new Map<Address, Plain[]>()
      for (const item of all) bySender.set(item.sender, [...(bySender.get(item.sender) ?? []), item])
      const heads: Plain[] = []
      for (const items of bySender.values()) {
        items.sort((a, b) => Number(a.tx.nonce - b.tx.nonce))
        const first = items.shift()
        if (first) insert(heads, first)
      }
      let taken = 0
      for (let item = heads.shift(); item; item = heads.shift()) {
        taken++
        const next = bySender.get(item.sender)?.shift()
        if (next) insert(heads, next)
      }
      return taken
    },
    onPublished(record): void {
      const blocks = record.overlays.slice(-1)
      const gone = new Set(blocks.flatMap(({ executed }) => executed.map(({ hash }) => hash)))
      using view = chain.view()
      const state = view.state(view.heads.latest)
      all = all.filter(({ sender, hash, tx }) => {
        const account = state?.account(sender)
        return !gone.has(hash) && account && tx.nonce >= account.nonce && account.balance >= tx.gasLimit * tx.maxFeePerGas + tx.value
      })
    },
  }
}

/** The same transfers for both sides: priority fees mixed, the nonces of a sender in order. */
function transfers(senders: number): readonly Uint8Array[] {
  return Array.from({ length: count }, (_, i) => {
    const sender = i % senders
    const nonce = BigInt(Math.floor(i / senders))
    return poolTransaction(sender, { nonce, maxPriorityFeePerGas: BigInt((i * 7_919) % 5_000), value: BigInt(i) })
  })
}

type Times = { readonly add: number[]; readonly best: number[]; readonly head: number[] }

/** CPU time of this thread in milliseconds: other programs of the machine do not count. */
function timed(run: () => void): number {
  const start = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(start)
  return Math.max(user + system, 100) / 1_000
}

function measure(open: (chain: PoolChain) => Side, raws: readonly Uint8Array[], times: Times): void {
  const chain = pricedChain()
  const side = open(chain)
  times.add.push(
    timed(() => {
      for (let from = 0; from < raws.length; from += batch) side.add(raws.slice(from, from + batch))
    }),
  )
  let taken = 0
  const all = timed(() => {
    for (let i = 0; i < drains; i++) taken = side.best()
  })
  times.best.push(all / drains)
  if (taken !== count) throw new Error(`${taken} of ${count} came out`)
  const record = chain.include(raws.slice(0, included))
  times.head.push(timed(() => side.onPublished(record)))
  const left = side.best()
  if (left !== count - included) throw new Error(`${left} are left`)
}

/** Every transaction evicts one: the pool is full, and each pays more than all before. */
function measureFull(): number {
  const raws = (from: number): Uint8Array[] =>
    Array.from({ length: count }, (_, i) => poolTransaction(from + i, { maxFeePerGas: 10n ** 6n, maxPriorityFeePerGas: BigInt(from + i) }))
  const tested = pricedChain().pool({ maxBytes: count * 2_000 })
  const [first, second] = [raws(0), raws(count)]
  tested.add(first)
  const before = tested.size().pending
  const ms = timed(() => {
    for (let from = 0; from < second.length; from += batch) tested.add(second.slice(from, from + batch))
  })
  const { removals } = tested.facts()
  if (tested.size().pending > before + count / 10 || (removals.evicted ?? 0) < count / 2) throw new Error('the pool is not full')
  return (count * 1_000) / ms
}

const worst = (ms: readonly number[]): string => `${Math.max(...ms).toFixed(1)} ms at most`
const noTimes = (): Times => ({ add: [], best: [], head: [] })

function rowsOf(what: string, ours: Times, theirs: Times): Row[] {
  const compare = (name: string, per: number, pick: keyof Times): Row => {
    const rates = (ms: readonly number[]): number[] => ms.map((one) => (per * 1_000) / one)
    const unit = 'transactions/s'
    const other = row('one sorted array', unit, rates(theirs[pick]))
    return { ...row(`${name}, ${what}: ${worst(ours[pick])}`, unit, rates(ours[pick])), against: other }
  }
  return [
    compare(`adds ${count} transfers in batches of ${batch}`, count, 'add'),
    compare(`gives ${count} pending ones in order`, count, 'best'),
    compare(`takes a head with ${included} of ${count}`, count, 'head'),
  ]
}

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const senders of [1_000, 10_000, 10]) {
    const raws = transfers(senders)
    const [ours, theirs] = [noTimes(), noTimes()]
    for (const warmUp of [noTimes(), noTimes()]) for (const side of [pool, plain]) measure(side, raws, warmUp)
    for (let round = 0; round < rounds; round++) {
      measure(pool, raws, ours)
      measure(plain, raws, theirs)
    }
    rows.push(...rowsOf(`${senders} senders`, ours, theirs))
  }
  measureFull()
  rows.push(row(`adds ${count} to a full pool, each dearer than all in it`, 'transactions/s', Array.from({ length: rounds }, measureFull)))
  return rows
}
