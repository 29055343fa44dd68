import { emptyRoot } from '#types/ids'
import type { WorldReads } from '#types/worldReads'
import { type KnownAccount, type TransactionCondition, transactionCondition } from '../../../codecs/transactionCondition.ts'
import { bytes } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { prunedHistory, type RpcError, transactionRejected, unsupported } from '../../../errors.ts'
import type { Json } from '../../../json.ts'
import { param } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'
import { sentResult, submitRaw } from './sendRawTransaction.ts'

const rejected = (what: 'header' | 'state', why: string): RpcError => transactionRejected(`failed ${what} check: ${why}`)

function checkRange(name: string, { min, max }: TransactionCondition['timestamp'], value: number): void {
  if (min !== undefined && BigInt(value) < min) throw rejected('header', `${name} ${value} is below the minimum ${min}`)
  if (max !== undefined && BigInt(value) > max) throw rejected('header', `${name} ${value} is above the maximum ${max}`)
}

function checkAccount(state: WorldReads, known: KnownAccount): void {
  const { account } = known
  if (known.kind === 'root') {
    const root = state.account(account)?.storageRoot ?? emptyRoot
    if (root !== known.root) throw rejected('state', `storage root of ${account} is ${root}`)
    return
  }
  for (const { slot, value } of known.slots) {
    if (state.slot(account, slot) !== BigInt(value)) throw rejected('state', `slot ${slot} of ${account} has another value`)
  }
}

/** Checks a condition on the current head. @throws RpcError −32003 when it does not hold */
function checkCondition({ chain }: EthContext, { blockNumber, timestamp, knownAccounts }: TransactionCondition): void {
  using view = chain.view()
  const { latest } = view.heads
  const header = view.header(latest.hash)
  const state = view.state(latest)
  if (header === undefined || state === undefined) throw prunedHistory()
  checkRange('block number', blockNumber, header.number)
  checkRange('timestamp', timestamp, header.timestamp)
  for (const known of knownAccounts) checkAccount(state, known)
}

export const sendRawTransactionConditional = ethMethod({
  name: 'eth_sendRawTransactionConditional',
  doc: 'Like eth_sendRawTransaction, for a transaction that may be included only while a condition holds. The node checks the condition on its head and forwards it with the transaction to the sequencer, which enforces it. Not supported without a sequencer (--sequencer.http), because the pool does not keep conditions.',
  params: [param('transaction', bytes), param('condition', transactionCondition)],
  result: sentResult,
  cost: 'submit',
  example: { params: ['0x1234', { blockNumberMax: '0x1b4' }] },
  async run(context, raw, condition): Promise<Json> {
    if (context.sequencer === undefined) throw unsupported('conditional transactions without --sequencer.http')
    checkCondition(context, condition)
    return await submitRaw(context, raw, condition.given)
  },
})
