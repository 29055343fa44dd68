import { BoundedMap } from '#lib/boundedMap'
import type { DecodedBlock } from '../../../cache/blockCache.ts'
import type { ReceiptFilter } from '../../../codecs/receiptFilter.ts'
import type { ChainChanges, EthContext, Subscription } from '../../../context.ts'
import { prunedHistory } from '../../../errors.ts'
import type { Trail } from '../../../filters/chainTrail.ts'
import { useTerms } from '../../../filters/sharedMatchers.ts'
import { type Collect, followChain, trailFromHead } from '../filters/followChain.ts'
import { receiptsCost } from '../readCosts.ts'

/** Number of blocks whose receipts are written before they are sent. */
const blocksAtOnce = 16

/** All receipts of the last few blocks, for all subscribers: they read the same blocks at about the same time. */
const wholeTexts = new BoundedMap<DecodedBlock, string>(4)

function wholeText(block: DecodedBlock): string {
  const known = wholeTexts.get(block)
  if (known !== undefined) return known
  const made = String(block.text.receipts())
  wholeTexts.set(block, made)
  return made
}

/** Returns the wanted receipts as a JSON list; undefined when the block has none of them. */
function receiptsOf(block: DecodedBlock, wanted: ReadonlySet<string>): string | undefined {
  if (wanted.size === 0) return block.count === 0 ? undefined : wholeText(block)
  const texts = block.hashes().flatMap((hash, index) => (wanted.has(hash) ? (block.text.receipt(index) ?? []) : []))
  return texts.length === 0 ? undefined : `[${texts.join(',')}]`
}

function collectReceipts(context: EthContext, wanted: ReadonlySet<string>): Collect<string> {
  return {
    added(view, { hash }): ReturnType<Collect<string>['added']> {
      const block = context.blocks.read(view, hash)
      if (block === undefined) throw prunedHistory()
      const text = receiptsOf(block, wanted)
      return text === undefined ? { items: [], cost: 1 } : { items: [text], cost: receiptsCost }
    },
    removed: () => [],
    sizeOf: (text) => text.length,
  }
}

/**
 * Subscription to the receipts of new canonical blocks, one notification for each block. As in go-ethereum (`eth/filters`, since 1.16.5) and in Base's
 * client (`transaction_receipts_stream`): no hashes mean all transactions, a block without a wanted receipt is not notified, and after a reorg
 * the blocks of the new branch follow; nothing is sent for the blocks that left.
 * @see https://github.com/ethereum/go-ethereum/pull/32697, https://github.com/paradigmxyz/reth/pull/23485, execution-apis "eth_subscribe"
 * @throws RpcError −32005 when the hashes of all clients exceed their budget
 */
export function receiptsSubscription(context: EthContext, { transactionHashes }: ReceiptFilter): Subscription {
  using view = context.chain.view()
  const use = useTerms(context.filters.budget, transactionHashes.length)
  const following = { ...context, cancellation: { isCancelled: false } }
  const collect = collectReceipts(following, new Set<string>(transactionHashes))
  let trail: Trail = trailFromHead(context, view)
  const changes = async (): Promise<ChainChanges> => {
    const followed = await followChain(following, trail, blocksAtOnce, collect)
    trail = followed.trail
    return { texts: followed.added, isEnd: followed.isEnd }
  }
  return { kind: 'changes', changes, use }
}
