import type { Hash } from '#types/ids'
import { hashTransaction } from '#types/transaction'
import { ParamError } from '../../../codecs/paramError.ts'
import { bytes, gasQuantity } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import { RpcError, timedOut } from '../../../errors.ts'
import { refTo } from '../../../reference/schemas.ts'
import { optionalParam, type ParamCodec, param } from '../../../registry.ts'
import { receiptResult } from '../../../results/receipt.ts'
import { asText } from '../../../results/text.ts'
import { transactionDetail } from '../../base/transactionStatus.ts'
import { ethMethod } from '../../define.ts'
import { minedReceiptOf } from '../blocks/transactions.ts'
import { durationText } from '../calls/callErrors.ts'
import { submitRaw } from './sendRawTransaction.ts'

/** Maximum and default, as in Base's execution client. */
const maxTimeoutMs = 6_000

const timeout: ParamCodec<number> = {
  doc: `milliseconds, a number or a quantity, at most ${maxTimeoutMs}`,
  schema: { anyOf: [{ type: 'integer' }, refTo('Quantity')] },
  parse(value): number {
    const ms = gasQuantity.parse(value)
    if (ms > maxTimeoutMs) throw new ParamError(`time out too long, timeout: ${ms} ms, max: ${maxTimeoutMs} ms`, 'senseless')
    return Number(ms)
  },
}

/** Wakes its waiter at each new head, at each flashblock, and at the time-out. Events from before the wait count. */
class HeadWatch implements Disposable {
  readonly #feeds: readonly (Disposable | undefined)[]
  #timer: Disposable | undefined
  #hasNews = false
  #wake: (() => void) | undefined
  isLate = false

  constructor({ heads, preconfirmed }: Pick<EthContext, 'heads' | 'preconfirmed'>) {
    const notify = (): void => this.#notify()
    this.#feeds = [heads.subscribe(notify), preconfirmed?.subscribe(notify)]
  }

  startTimer({ clock }: Pick<EthContext, 'clock'>, ms: number): void {
    this.#timer = clock.after(ms, () => {
      this.isLate = true
      this.#notify()
    })
  }

  async news(): Promise<void> {
    if (!this.#hasNews) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#hasNews = false
  }

  [Symbol.dispose](): void {
    for (const feed of this.#feeds) feed?.[Symbol.dispose]()
    this.#timer?.[Symbol.dispose]()
  }

  #notify(): void {
    this.#hasNews = true
    this.#wake?.()
  }
}

/** @see EIP-7966, "Error codes" */
async function notConfirmed(context: EthContext, hash: Hash, timeoutMs: number): Promise<RpcError> {
  const message = `Transaction ${hash} was added to the mempool but wasn't confirmed within ${durationText(timeoutMs)}.`
  return new RpcError(4, message, { hash, status: await transactionDetail(context, hash) })
}

async function sendAndWait(context: EthContext, raw: Uint8Array, timeoutMs: number): Promise<string> {
  using watch = new HeadWatch(context) // before sending, so that no block is missed
  await submitRaw(context, raw)
  watch.startTimer(context, timeoutMs)
  const hash = hashTransaction(raw)
  for (;;) {
    const receipt = minedReceiptOf(context, hash)
    if (receipt) return receipt
    if (watch.isLate) throw await notConfirmed(context, hash, timeoutMs)
    if (context.cancellation.isCancelled) throw timedOut()
    await watch.news()
  }
}

export const sendRawTransactionSync = ethMethod({
  name: 'eth_sendRawTransactionSync',
  doc: 'Like eth_sendRawTransaction, and waits for the receipt (EIP-7966). In a pending block the block hash of the receipt is zero. The time-out starts when the transaction is accepted; on time-out: error 4 with `data.hash`, and the known state of the transaction in `data.status`.',
  params: [param('transaction', bytes), optionalParam('timeout', timeout, maxTimeoutMs, `${maxTimeoutMs} ms`)],
  result: asText(receiptResult),
  cost: 'submit-sync',
  example: { params: ['0x1234', 2_000] },
  run: sendAndWait,
})
