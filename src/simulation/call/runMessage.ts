import { applyAuthorizations, signedAuthorizations } from '#block/execution/authorizations'
import { gasAfterRefund, gasBounds, initcodeRefusal } from '#block/validation/intrinsicGas'
import { type EvmRules, hasFork } from '#chainspec/evmRules'
import type { BlockEnv, EvmSession, InterruptCheck, Outcome } from '#evm/ports'
import type { CallMessage, CallOutcome, CallRefusal, MeasuredCall, RunTimer } from '#rpc/callPorts'
import { maxNonce } from '#types/account'
import { OutOfTime } from './callTimer.ts'
import { warmOverridden } from './overriddenPrecompiles.ts'

/** Environment of a message. */
export type MessageContext = { readonly session: EvmSession; readonly env: BlockEnv; readonly rules: EvmRules }

/** Result of a message. Its transaction is still open; unused gas is returned. */
export type MessageRun =
  | { readonly kind: 'refused'; readonly refusal: CallRefusal }
  /** gas as in `MeasuredCall` */
  | { readonly kind: 'ran'; readonly outcome: Outcome; readonly gasUsed: bigint; readonly gasRefunded: bigint }

/**
 * Runs one message as a transaction: the sender pays for the gas used if the message has a price, the nonce is incremented, delegations are
 * applied. Does not check nonce, sender code and block gas limit, and charges no L1 or operator fee. No account receives the gas fee: clients
 * differ here (go-ethereum pays it to the fee recipient, reth does not).
 * @throws errors of `interruptCheck`
 */
export function runMessage({ session, env, rules }: MessageContext, message: CallMessage, interruptCheck?: InterruptCheck): MessageRun {
  if (message.authorizationList.length > 0 && !hasFork(rules, 'prague')) return { kind: 'refused', refusal: { kind: 'transaction-type' } }
  if (initcodeRefusal(rules, message) !== undefined) return { kind: 'refused', refusal: { kind: 'initcode-size' } }
  const { intrinsic, floor } = gasBounds(rules, message)
  const needed = intrinsic > floor ? intrinsic : floor
  if (message.gasLimit < needed) return { kind: 'refused', refusal: { kind: 'intrinsic-gas', needed } }

  const { from, to, value, data, gasLimit, gasPrice, accessList, authorizationList } = message
  const { balance = 0n, nonce = 0n } = session.account(from) ?? {}
  const want = gasLimit * gasPrice + value
  if (balance < want) return { kind: 'refused', refusal: { kind: 'insufficient-funds', have: balance, want } }
  if (nonce >= maxNonce) return { kind: 'refused', refusal: { kind: 'nonce-overflow' } }

  const authorizations = signedAuthorizations(authorizationList, env.chainId)
  const warm = [...accessList, ...authorizations.map(({ authority }) => ({ address: authority, slots: [] })), ...warmOverridden(rules)]
  session.beginTransaction({ origin: from, gasPrice, blobHashes: [], warm })
  session.subtractBalance(from, gasLimit * gasPrice)
  if (to !== null) session.setNonce(from, nonce + 1n)
  const earlierRefund = applyAuthorizations(session, authorizations)
  const outcome = session.run({ caller: from, to, value, data, gas: gasLimit - intrinsic }, interruptCheck)
  const gasUsed = gasAfterRefund(gasLimit, floor, outcome, earlierRefund)
  session.addBalance(from, (gasLimit - gasUsed) * gasPrice)
  const ran = gasLimit - outcome.gasLeft
  return { kind: 'ran', outcome, gasUsed, gasRefunded: ran > gasUsed ? ran - gasUsed : 0n }
}

/** Result of a message that was refused. */
export const notRun = (refusal: CallRefusal): MeasuredCall => ({ outcome: { kind: 'refused', refusal }, gasUsed: 0n, gasRefunded: 0n })

/** Runs one message within the time of its request. The transaction stays open, as after `runMessage`. */
export function measureMessage(context: MessageContext, message: CallMessage, timer: RunTimer | undefined): MeasuredCall {
  try {
    const run = runMessage(context, message, timer?.())
    if (run.kind === 'refused') return notRun(run.refusal)
    const { gasUsed, gasRefunded } = run
    return { outcome: callOutcomeOf(context.session, run.outcome), gasUsed, gasRefunded }
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error
    return { outcome: { kind: 'timeout', timeoutMs: error.timeoutMs }, gasUsed: 0n, gasRefunded: 0n }
  }
}

function callOutcomeOf(session: EvmSession, outcome: Outcome): CallOutcome {
  if (outcome.kind === 'halt') return { kind: 'halt', reason: outcome.reason }
  const created = outcome.kind === 'success' ? outcome.created : undefined
  return { kind: outcome.kind, output: created === undefined ? outcome.output : session.code(created) }
}
