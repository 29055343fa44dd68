// Total cost of one ordinary ERC-20 transfer in a block: its checks, the L1 fee, the EVM, the receipt, and its part of the block's diff.

import { type BlockExecutor, createBlockExecutor, type ParentBlock } from '#block/execution/executeBlock'
import type { ReadTransaction } from '#block/execution/runTransactions'
import { createSenders, type Senders } from '#block/execution/senders'
import { configOfGenesis, type ExecutionConfig } from '#block/executionConfig'
import { genesisBlock } from '#block/genesisBlock'
import { inputOfAttributes } from '#block/validation/blockRules'
import { l1BlockAddress } from '#chainspec/addresses'
import type { Evm, EvmSession, StateView } from '#evm/ports'
import { bytesFromBigint } from '#lib/bytes'
import { keccak256, keccak256Text } from '#lib/keccak'
import { genesisState } from '#state/genesisState'
import type { WorldState } from '#state/worldState'
import { accountOf, attributesAt, scheduleTo, signedBy, smallGenesis } from '#test/harness/chain/blocks'
import { testAccount } from '#test/harness/evm/sessions'
import { type Address, type Hash, hashFromBytes, parseAddress, parseHash } from '#types/ids'
import { decodeTransaction, hashTransaction } from '#types/transaction'
import { codeOf } from './evm/workloads.ts'
import { chosenEvm, type EvmOptions } from './evm/world.ts'
import { type Row, row } from './format.ts'

const transfers = 500
const warmUps = 20
const defaultRounds = 60
/** target: median of µs a transaction */
const mostUs = 25

const tokenAddress: Address = parseAddress('0x00000000000000000000000000000000000070ce')
const slotNumber = (index: number): Hash => parseHash(`0x${index.toString(16).padStart(64, '0')}`)
const word = (hex: string): Uint8Array => bytesFromBigint(BigInt(hex), 32)

/** `balanceOf` is the second field of contracts/bench/Tokens.sol. */
const balanceSlot = (owner: Address): Hash => hashFromBytes(keccak256(Uint8Array.from([...word(owner), ...word('0x1')])))

function transferData(to: Address, value: bigint): Uint8Array {
  return Uint8Array.from([...keccak256Text('transfer(address,uint256)').subarray(0, 4), ...word(to), ...bytesFromBigint(value, 32)])
}

/** L1Block with a live chain's slots and without code: prices and scalars do not change. */
const l1Block = testAccount(l1BlockAddress, {
  nonce: 1n,
  storage: new Map([
    [slotNumber(1), 1_000_000_000n],
    [slotNumber(3), (1_368n << 96n) | (810_949n << 64n)],
    [slotNumber(7), 1n],
    [slotNumber(8), 400n << 96n],
  ]),
})

type TransferBlocks = {
  readonly config: ExecutionConfig
  readonly senders: Senders
  readonly parent: ParentBlock
  readonly raws: readonly Uint8Array[]
}

/** A chain whose accounts all hold ether and tokens, and the transactions by which each sends tokens to the next. */
function transferBlocks(): TransferBlocks {
  const schedule = scheduleTo('jovian')
  const names = Array.from({ length: transfers }, (_, i) => `account ${i}`)
  const owners = names.map(accountOf)
  const rich = owners.map((owner) => testAccount(owner, { balance: 10n ** 18n }))
  const token = testAccount(tokenAddress, {
    nonce: 1n,
    storage: new Map(owners.map((owner) => [balanceSlot(owner), 10n ** 24n])),
  })
  const genesis = smallGenesis(schedule, [...rich, l1Block, { ...token, code: codeOf('Token') }])
  const config = configOfGenesis(genesis)
  const { header, hash } = genesisBlock(genesis, schedule)
  const raws = names.map((name, i) => {
    const data = transferData(owners[(i + 1) % transfers] ?? tokenAddress, 10n ** 18n + BigInt(i) * 1_234_567n)
    return signedBy(name, { to: tokenAddress, value: 0n, data, gasLimit: 90_000n })
  })
  const parent = { header, hash, state: genesisState(genesis.accounts).state }
  return { config, senders: createSenders({ maxBytes: 32 * 2 ** 20 }), parent, raws }
}

/** Returns the same state as a view that no session has read: each block of a chain has its own view. */
function freshState({ view, nodes }: WorldState): WorldState {
  const fresh: StateView = {
    account: (key) => view.account(key),
    slot: (owner, key) => view.slot(owner, key),
    code: (hash) => view.code(hash),
    blockHash: (number) => view.blockHash(number),
  }
  return { view: fresh, nodes }
}

/** Opens a block and executes its L1 attributes. @returns the block and its session, which provides the diff */
function open(
  { config, senders, parent: { header, hash, state } }: TransferBlocks,
  evm: Evm,
): { readonly block: BlockExecutor; readonly session: EvmSession } {
  const sessions: EvmSession[] = []
  const kept: Evm = {
    open(...on) {
      const session = evm.open(...on)
      sessions.push(session)
      return session
    },
  }
  const attributes = { ...attributesAt(config.schedule, 1), gasLimit: 120_000_000n }
  const parent = { header, hash, state: freshState(state) }
  const opened = createBlockExecutor({ evm: kept, config, senders }, parent, inputOfAttributes(config, attributes))
  if (opened.kind === 'invalid') throw new Error(opened.reason)
  const refusal = opened.block.takeAll()
  const [session] = sessions
  if (refusal !== undefined || session === undefined) throw new Error(refusal?.reason ?? 'no session')
  return { block: opened.block, session }
}

function readAll({ raws, senders }: TransferBlocks): readonly ReadTransaction[] {
  return raws.map((raw) => {
    const tx = decodeTransaction(raw)
    const hash = hashTransaction(raw)
    const sender = tx.type === 0x7e ? undefined : senders.of(tx, hash)
    if (tx.type === 0x7e || sender === undefined) throw new Error('not a signed transaction')
    return { tx, raw, hash, sender }
  })
}

/** Runs a block's transfers and takes its diff. @returns µs a transaction */
function measure<T>(
  blocks: TransferBlocks,
  evm: Evm,
  all: readonly T[],
  take: (block: BlockExecutor, each: T) => string | undefined,
): number {
  const { block, session } = open(blocks, evm)
  const startMs = performance.now()
  for (const each of all) {
    const refusal = take(block, each)
    if (refusal !== undefined) throw new Error(refusal)
  }
  const diff = session.diff()
  const us = ((performance.now() - startMs) * 1_000) / all.length
  const { executed } = block.run
  session[Symbol.dispose]()
  const slots = [...diff.slots()].length
  const isRight = executed.slice(1).every(({ receipt }) => receipt.succeeded && receipt.logs.length === 1)
  if (!isRight || executed.length !== transfers + 1 || slots < transfers) throw new Error('unexpected outcome of the transfers')
  return us
}

/** Measures blocks of 500 transfers, repeatedly on the same parent; median of the time a transaction. */
export async function run({ evm: name, rounds = defaultRounds, judge = false }: EvmOptions): Promise<readonly Row[]> {
  const evm = await chosenEvm(name)
  const blocks = transferBlocks()
  const read = readAll(blocks)
  const taken = () => measure(blocks, evm, read, (block, each) => block.takeSigned(each))
  const decoded = () => measure(blocks, evm, blocks.raws, (block, each) => block.take(each))
  for (let warm = 0; warm < warmUps; warm++) {
    taken()
    decoded()
  }
  const runs = { taken: [] as number[], decoded: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    runs.taken.push(taken())
    runs.decoded.push(decoded())
  }
  const rows = [
    row('ERC-20 transfer transaction, sender known: checks, L1 fee, EVM, receipt, diff', 'µs', runs.taken),
    row('the same with decoding and hashing of its bytes', 'µs', runs.decoded),
  ]
  const [first] = rows
  if (judge && (first?.value ?? 0) > mostUs) {
    console.error(`more than ${mostUs} µs by the median`)
    process.exitCode = 1
  }
  return rows
}
