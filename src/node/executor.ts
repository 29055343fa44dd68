import { evmRulesAt } from '#chain/opRules'
import type { RollupConfig } from '#chain/rollupConfig'
import type { BlockEnv, Evm } from '#evm/ports'
import { applyAuthorizations, signedAuthorizations } from '#execution/authorizations'
import type { ParentBlock } from '#execution/executeBlock'
import { floorGas, gasAfterRefund, initcodeRefusal, intrinsicGas } from '#execution/intrinsicGas'
import type { CallMessage, CallOutcome, CallRefusal, MeasuredCall, RunTimer } from '#rpc/ports'
import { OutOfTime } from './callTimer.ts'

const maxNonce = 2n ** 64n - 1n

const refused = (refusal: CallRefusal): MeasuredCall => ({ outcome: { kind: 'refused', refusal }, gasUsed: 0n, gasRefunded: 0n })

type Deps = {
  readonly evm: Evm
  readonly config: RollupConfig
  /** ends messages by throwing OutOfTime; absent: they run to their end */
  readonly timer?: RunTimer
}

/**
 * Runs a message in the environment of a block on the state after it. No nonce, sender-code, L1 fee and block-gas-limit checks; the sender
 * pays for gas only when the message has a price. Nothing is kept.
 */
export function runCall(deps: Deps, at: ParentBlock, message: CallMessage): CallOutcome {
  return measureCall(deps, at, message).outcome
}

/** As `runCall`, with the gas that a transaction of this message would be charged for. */
export function measureCall(deps: Deps, at: ParentBlock, message: CallMessage): MeasuredCall {
  try {
    return measure(deps, at, message)
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error
    return { outcome: { kind: 'timeout', timeoutMs: error.timeoutMs }, gasUsed: 0n, gasRefunded: 0n }
  }
}

function measure(deps: Deps, at: ParentBlock, message: CallMessage): MeasuredCall {
  const rules = evmRulesAt(deps.config.schedule, at.header.timestamp)
  if (initcodeRefusal(rules, message) !== undefined) return refused({ kind: 'initcode-size' })
  const intrinsic = intrinsicGas(rules, message)
  const floor = floorGas(rules, message)
  const needed = intrinsic > floor ? intrinsic : floor
  if (message.gasLimit < needed) return refused({ kind: 'intrinsic-gas', needed })

  const env = blockEnv(deps.config, at)
  using session = deps.evm.open(at.state.view, env, rules)
  const { from, to, value, data, gasLimit, gasPrice, accessList, authorizationList } = message
  const { balance = 0n, nonce = 0n } = session.account(from) ?? {}
  const want = gasLimit * gasPrice + value
  if (balance < want) return refused({ kind: 'insufficient-funds', have: balance, want })
  if (nonce >= maxNonce) return refused({ kind: 'nonce-overflow' })

  const authorizations = signedAuthorizations(authorizationList, env.chainId)
  const warm = [...accessList, ...authorizations.map(({ authority }) => ({ address: authority, slots: [] }))]
  session.beginTransaction({ origin: from, gasPrice, blobHashes: [], warm })
  session.subtractBalance(from, gasLimit * gasPrice)
  if (to !== null) session.setNonce(from, nonce + 1n)
  const earlierRefund = applyAuthorizations(session, authorizations)
  const outcome = session.run({ caller: from, to, value, data, gas: gasLimit - intrinsic }, deps.timer?.())
  const gasUsed = gasAfterRefund(message.gasLimit, floor, outcome, earlierRefund)
  const ran = gasLimit - outcome.gasLeft
  const gas = { gasUsed, gasRefunded: ran > gasUsed ? ran - gasUsed : 0n }
  if (outcome.kind === 'halt') return { outcome: { kind: 'halt', reason: outcome.reason }, ...gas }
  const created = outcome.kind === 'success' ? outcome.created : undefined
  const output = created === undefined ? outcome.output : session.code(created)
  return { outcome: { kind: outcome.kind, output }, ...gas }
}

function blockEnv({ l2ChainId }: RollupConfig, { header }: ParentBlock): BlockEnv {
  return {
    chainId: BigInt(l2ChainId),
    number: header.number,
    timestamp: header.timestamp,
    beneficiary: header.beneficiary,
    prevRandao: header.mixHash,
    gasLimit: header.gasLimit,
    baseFee: header.baseFeePerGas ?? 0n,
    blobBaseFee: 1n,
  }
}
