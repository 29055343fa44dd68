import { applyTransaction, type FeeRules } from '#block/execution/applyTransaction'
import { unionOfBlooms } from '#block/execution/receipts'
import { nextBaseFee } from '#block/fees/baseFee'
import { blobBaseFee, gasPerBlob } from '#chainspec/blobFee'
import type { EvmRules } from '#chainspec/evmRules'
import type { BlockEnv, Evm, StateView } from '#evm/ports'
import { orderedRoot } from '#trie/orderedRoot'
import { type Header, hashHeader } from '#types/header'
import { type Address, emptyOmmersHash, emptyRequestsHash, emptyRoot, type Hash, zeroAddress, zeroHash } from '#types/ids'
import { bloomBytes } from '#types/log'
import { createReceipt, encodeReceipt, type Receipt } from '#types/receipt'
import type { StateDiff } from '#types/stateDiff'
import type { SignedTransaction } from '#types/transaction'
import type { MemoryPool, Waiting } from './memoryPool.ts'

/** Included transaction with its receipt, without its blobs. */
export type Mined = Omit<Waiting, 'sidecar'> & {
  readonly receipt: Receipt
  /** gas */
  readonly gasUsed: bigint
  readonly created?: Address
}
export type MemoryBlock = { readonly hash: Hash; readonly header: Header; readonly mined: readonly Mined[] }

/** Maximum and target number of blobs per block. @see EIP-7691 */
const maxBlobs = 9
const targetBlobs = 6n

const gasLimit = 30_000_000n
const firstBaseFee = 1_000_000_000n

/** Prague: the newest rules of the interpreter. */
export const memoryRules: EvmRules = { fork: 'prague', precompileLimits: {} }

/** Ethereum's fee rules: the base fee is burned, the tip is the miner's. */
export const ethereumFees: FeeRules = {
  maxBlobs,
  upfront: () => 0n,
  settle: (session, { beneficiary, tipPerGas, gasUsed }) => session.addBalance(beneficiary, tipPerGas * gasUsed),
}

/** Header fields of a block without transactions. */
const empty = {
  ommersHash: emptyOmmersHash,
  // there is no trie, and derivation does not verify this root
  stateRoot: zeroHash,
  transactionsRoot: emptyRoot,
  receiptsRoot: emptyRoot,
  logsBloom: new Uint8Array(bloomBytes),
  difficulty: 0n,
  gasLimit,
  gasUsed: 0n,
  nonce: new Uint8Array(8),
  withdrawalsRoot: emptyRoot,
  blobGasUsed: 0n,
  parentBeaconBlockRoot: zeroHash,
  requestsHash: emptyRequestsHash,
} as const

export function memoryGenesis(timestamp: number): MemoryBlock {
  const header: Header = {
    ...empty,
    parentHash: zeroHash,
    beneficiary: zeroAddress,
    number: 0,
    timestamp,
    extraData: new Uint8Array(),
    mixHash: zeroHash,
    baseFeePerGas: firstBaseFee,
    excessBlobGas: 0n,
  }
  return { hash: hashHeader(header), header, mined: [] }
}

/** Fields of a block that do not depend on its transactions. */
export type BlockPlan = { readonly timestamp: number; readonly mixHash: Hash; readonly extraData: Uint8Array }

function excessAfter({ excessBlobGas = 0n, blobGasUsed = 0n }: Header): bigint {
  const sum = excessBlobGas + blobGasUsed - targetBlobs * gasPerBlob
  return sum > 0n ? sum : 0n
}

/** Returns the header of the next block as if it were empty. */
export function nextHeader(parent: MemoryBlock, plan: BlockPlan): Header {
  const { header } = parent
  const baseFeePerGas = nextBaseFee(
    { baseFee: header.baseFeePerGas ?? 0n, gasLimit: header.gasLimit, gasMetered: header.gasUsed },
    { elasticity: 2, denominator: 8, minBaseFee: 0n },
  )
  return {
    ...empty,
    ...plan,
    parentHash: parent.hash,
    beneficiary: zeroAddress,
    number: header.number + 1,
    baseFeePerGas,
    excessBlobGas: excessAfter(header),
  }
}

export const envOf = (chainId: number, header: Header): BlockEnv => ({
  chainId: BigInt(chainId),
  number: header.number,
  timestamp: header.timestamp,
  beneficiary: header.beneficiary,
  prevRandao: header.mixHash,
  gasLimit: header.gasLimit,
  baseFee: header.baseFeePerGas ?? 0n,
  blobBaseFee: blobBaseFee({ l1ChainId: chainId }, header),
})

const blobsIn = (tx: SignedTransaction): number => (tx.type === 3 ? tx.blobVersionedHashes.length : 0)

/**
 * Builds the next block from the pool: highest tip first, as many as fit. Transactions that can never be included leave the pool.
 * @param view state after the parent
 * @returns `carrying`: the block's transactions with blobs
 */
export function buildMemoryBlock(
  deps: { readonly evm: Evm; readonly pool: MemoryPool; readonly view: StateView; readonly chainId: number },
  parent: MemoryBlock,
  plan: BlockPlan,
): { readonly block: MemoryBlock; readonly diff: StateDiff; readonly carrying: readonly Waiting[] } {
  const { evm, pool, view, chainId } = deps
  const open = nextHeader(parent, plan)
  const env = envOf(chainId, open)
  using session = evm.open(view, env, memoryRules)
  const nonceOf = (sender: Address): bigint => session.account(sender)?.nonce ?? 0n
  const passedOver = new Set<Address>()
  const mined: Mined[] = []
  const carrying: Waiting[] = []
  let gasUsed = 0n
  let blobs = 0
  for (;;) {
    const waiting = pool.next(env.baseFee, nonceOf, (sender) => passedOver.has(sender))
    if (!waiting) break
    const { tx, raw, sender } = waiting
    const hasRoom = blobs + blobsIn(tx) <= maxBlobs
    const result = hasRoom && applyTransaction(session, env, memoryRules, ethereumFees, tx, raw, sender, open.gasLimit - gasUsed)
    if (!result || result.kind === 'refused') {
      passedOver.add(sender)
      continue
    }
    gasUsed += result.gasUsed
    blobs += blobsIn(tx)
    const { outcome } = result
    const { sidecar, ...bare } = waiting
    if (sidecar) carrying.push(waiting)
    const succeeded = outcome.kind === 'success'
    const receipt = createReceipt({ type: tx.type, succeeded, cumulativeGasUsed: gasUsed, logs: succeeded ? outcome.logs : [] })
    mined.push({ ...bare, receipt, gasUsed: result.gasUsed, ...(succeeded && outcome.created && { created: outcome.created }) })
    pool.remove(waiting)
  }
  pool.prune(nonceOf)
  const receipts = mined.map(({ receipt }) => receipt)
  const header: Header = {
    ...open,
    gasUsed,
    blobGasUsed: BigInt(blobs) * gasPerBlob,
    transactionsRoot: orderedRoot(mined.map(({ raw }) => raw)),
    receiptsRoot: orderedRoot(receipts.map(encodeReceipt)),
    logsBloom: unionOfBlooms(receipts),
  }
  return { block: { hash: hashHeader(header), header, mined }, diff: session.diff(), carrying }
}
