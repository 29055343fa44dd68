import { toQuantity } from '#lib/hex'
import { RlpError } from '#lib/rlp'
import type { Hash } from '#types/ids'
import { decodeTransaction, hashTransaction } from '#types/transaction'
import type { TransactionPool } from '#types/transactionPool'
import { bytes } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { internalError, invalidInput, invalidParams, overRateLimit, RpcError, serverBusy, unsupported } from '../../../errors.ts'
import type { Json } from '../../../json.ts'
import { refTo } from '../../../reference/schemas.ts'
import { param, type ResultCodec } from '../../../registry.ts'
import type { SequencerLink } from '../../../submitPorts.ts'
import { ethMethod } from '../../define.ts'
import { poolRefusalError } from './poolErrors.ts'

/** Limit of the pool. */
const maxTransactionBytes = 128 * 1_024
/** Types that are decoded before forwarding; legacy transactions begin with an RLP list. The sequencer judges other types. */
const [readTypes, legacyFrom] = [[1, 2, 4], 0xc0]

/** Refuses transactions that no node would accept, before they are forwarded. */
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

/** Hint for errors of the sequencer without data: the state shown by an unsynced node may have caused them. */
function syncHint({ chain }: EthContext): Json | undefined {
  const progress = chain.sync()
  return (
    progress && {
      hint: 'this node is not synced yet: its nonces and balances may be outdated',
      currentBlock: toQuantity(progress.current),
      highestBlock: toQuantity(progress.highest),
    }
  )
}

/** Forwards a transaction and returns the sequencer's result unchanged. */
async function forward(context: EthContext, sequencer: SequencerLink, raw: Uint8Array, condition: Json | undefined): Promise<Json> {
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
      throw internalError('no answer from the sequencer: it may have accepted the transaction; check base_transactionStatus')
  }
}

/**
 * Submits a transaction to the sequencer when one is set, else to the pool.
 * @param raw EIP-2718 bytes
 * @returns its hash, as the sequencer or the pool returned it
 * @throws RpcError with the reason of the refusal
 */
export async function submitRaw(context: EthContext, raw: Uint8Array, condition?: Json): Promise<Json> {
  const { sequencer, pool, filters } = context
  if (raw.length === 0) throw invalidParams('empty transaction data')
  if (sequencer) return await forward(context, sequencer, raw, condition)
  if (pool === undefined) throw unsupported('transactions: this node has neither a pool nor a sequencer')
  const hash = await addHere(pool, raw)
  filters.notePending(hash)
  return hash
}

export const sentResult: ResultCodec<Json> = {
  doc: '32 bytes in hex: the hash of the transaction',
  schema: refTo('Hash'),
  encode: (value) => value,
}

export const sendRawTransaction = ethMethod({
  name: 'eth_sendRawTransaction',
  doc: 'Submits a signed transaction to the pool, or to the sequencer when one is set (--sequencer.http). The answer of the sequencer is returned unchanged; an error has `data.hint` while this node is not synced. When the connection to the sequencer fails, the node retries for eight seconds.',
  params: [param('transaction', bytes)],
  result: sentResult,
  cost: 'submit',
  example: { params: ['0x1234'] },
  run: submitRaw,
})
