import { toQuantity } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import type { Hash } from '#types/ids'
import { decodeTransaction, hashTransaction } from '#types/transaction'
import type { TransactionPool } from '#types/transactionPool'
import type { EthContext } from '../../../context.ts'
import { internalError, invalidInput, invalidParams, overRateLimit, RpcError, serverBusy, unsupported } from '../../../errors.ts'
import type { Json } from '../../../json.ts'
import type { SequencerLink } from '../../../submitPorts.ts'
import { poolRefusalError } from './poolErrors.ts'

/** As the pool has it. */
const maxTransactionBytes = 128 * 1_024
/** Types that are read here before they are passed on; legacy ones begin with a list. What else there is the sequencer knows. */
const [readTypes, legacyFrom] = [[1, 2, 4], 0xc0]

/** Keeps from the sequencer what no node would take. */
function refuseUnreadable(raw: Uint8Array): void {
  if (raw.length > maxTransactionBytes) throw poolRefusalError({ kind: 'oversized', size: raw.length, limit: maxTransactionBytes })
  const type = raw[0] ?? 0
  if (type < legacyFrom && !readTypes.includes(type)) return
  try {
    decodeTransaction(raw)
  } catch (error) {
    throw error instanceof RlpError ? poolRefusalError({ kind: 'undecodable', reason: error.message }) : error
  }
}

async function addHere(pool: TransactionPool, raw: Uint8Array): Promise<Hash> {
  const outcome = await pool.add(raw)
  if (outcome.kind === 'refused') throw poolRefusalError(outcome.refusal)
  if (outcome.kind === 'known') throw invalidInput('already known')
  return outcome.hash
}

/** Beside an error of the sequencer that says no more: what this node has shown may be what led to it. */
function syncHint({ chain }: EthContext): Json | undefined {
  const progress = chain.sync()
  return (
    progress && {
      hint: 'this node is not synced yet: nonces and balances that it shows may be old',
      currentBlock: toQuantity(progress.current),
      highestBlock: toQuantity(progress.highest),
    }
  )
}

/** The sequencer's words, unchanged. */
async function passOn(context: EthContext, sequencer: SequencerLink, raw: Uint8Array, condition: Json | undefined): Promise<Json> {
  refuseUnreadable(raw)
  const answer = await sequencer.send(raw, condition)
  switch (answer.kind) {
    case 'result':
      context.filters.notePending(hashTransaction(raw))
      return answer.result
    case 'error':
      throw new RpcError(answer.code, answer.message, answer.data ?? syncHint(context))
    case 'limited':
      throw overRateLimit({ retryAfterMs: answer.retryAfterMs })
    case 'busy':
      throw serverBusy()
    case 'unanswered':
      throw internalError('the sequencer does not answer: it may have the transaction nevertheless, base_transactionStatus tells')
  }
}

/**
 * Takes a transaction: the sequencer's to judge where one is set, else into the pool.
 * @param raw EIP-2718 bytes
 * @returns its hash, in the words of whoever took it
 * @throws RpcError of who refused it
 */
export async function submitRaw(context: EthContext, raw: Uint8Array, condition?: Json): Promise<Json> {
  const { sequencer, pool, filters } = context
  if (raw.length === 0) throw invalidParams('empty transaction data')
  if (sequencer) return await passOn(context, sequencer, raw, condition)
  if (pool === undefined) throw unsupported('transactions: this node has no pool and knows no sequencer')
  const hash = await addHere(pool, raw)
  filters.notePending(hash)
  return hash
}
