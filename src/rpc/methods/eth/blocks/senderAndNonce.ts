import type { BlockId } from '#types/blockRef'
import type { ChainView } from '#types/chainView'
import type { Address } from '#types/ids'
import { decodeTransaction, depositType } from '#types/transaction'
import type { DecodedBlock } from '../../../cache/blockCache.ts'
import { address, gasQuantity } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { param } from '../../../registry.ts'
import { writtenOrNull } from '../../../results/text.ts'
import { type AnyTransaction, pendingTransaction, transactionResult } from '../../../results/transaction.ts'
import { ethMethod } from '../../define.ts'
import { prunedState } from '../atBlock.ts'

/** Nonce of the account after a block; undefined when the state is not retained. */
function nonceAfter(view: ChainView, of: Address, { number }: Pick<BlockId, 'number'>): bigint | undefined {
  const hash = view.canonicalHash(number)
  const state = hash && view.state({ hash, number })
  return state && (state.account(of)?.nonce ?? 0n)
}

/**
 * Number of the first block after which the account's nonce is above `nonce`.
 * @throws RpcError 4444 when that block may be older than the retained states
 */
function blockThatUsed(view: ChainView, of: Address, nonce: bigint): number | undefined {
  const { latest } = view.heads
  if ((nonceAfter(view, of, latest) ?? 0n) <= nonce) return undefined
  let [from, to] = [0, latest.number]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const after = nonceAfter(view, of, { number: middle })
    if (after !== undefined && after > nonce) to = middle
    else from = middle + 1
  }
  if (to > 0 && nonceAfter(view, of, { number: to - 1 }) === undefined) throw prunedState(view)
  return to
}

function minedBy(context: EthContext, sender: Address, nonce: bigint): AnyTransaction | undefined {
  using view = context.chain.view()
  const number = blockThatUsed(view, sender, nonce)
  const hash = number === undefined ? undefined : view.canonicalHash(number)
  const hashes = hash === undefined ? (view.heads.unsealed ?? []).map((block) => block.hash) : [hash]
  for (const each of hashes) {
    const block = context.blocks.read(view, each)
    const found = block && sentIn(block, sender, nonce)
    if (found) return found
  }
  return undefined
}

function sentIn(block: DecodedBlock, sender: Address, nonce: bigint): AnyTransaction | undefined {
  const { senders, block: of } = block.of
  const index = of.transactions.findIndex((raw, at) => {
    if (senders[at] !== sender) return false
    const transaction = decodeTransaction(raw)
    const used = transaction.type === depositType ? block.receipts[at]?.receipt.depositNonce : transaction.nonce
    return used === nonce
  })
  return index < 0 ? undefined : block.transaction(index)
}

async function find(context: EthContext, of: Address, nonce: bigint): Promise<AnyTransaction | undefined> {
  const waiting = await context.pool?.content(of)
  for (const { raw, hash, sender } of waiting ?? []) {
    const transaction = decodeTransaction(raw)
    if (transaction.type !== depositType && transaction.nonce === nonce) return pendingTransaction(transaction, hash, sender)
  }
  return minedBy(context, of, nonce)
}

export const getTransactionBySenderAndNonce = ethMethod({
  name: 'eth_getTransactionBySenderAndNonce',
  doc: 'The transaction of an account with a given nonce: from the pool, else from the canonical chain or the pending blocks. Searches as far back as states are retained.',
  params: [param('sender', address), param('nonce', gasQuantity)],
  result: writtenOrNull(transactionResult),
  cost: 'block-read',
  example: { params: ['0x00000000000000000000000000000000000000ff', '0x0'], result: null },
  run: find,
})
