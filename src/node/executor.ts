import { evmRulesAt } from '#chain/opRules'
import type { RollupConfig } from '#chain/rollupConfig'
import type { BlockEnv, Evm } from '#evm/ports'
import type { ParentBlock } from '#execution/executeBlock'
import { floorGas, initcodeRefusal, intrinsicGas } from '#execution/intrinsicGas'
import type { CallMessage, CallOutcome, CallRefusal } from '#rpc/ports'

const maxNonce = 2n ** 64n - 1n

const refused = (refusal: CallRefusal): CallOutcome => ({ kind: 'refused', refusal })

/**
 * Runs a message in the environment of a block on the state after it. No nonce, sender-code, L1 fee and block-gas-limit checks; the sender
 * pays for gas only when the message has a price. Nothing is kept.
 */
export function runCall(deps: { readonly evm: Evm; readonly config: RollupConfig }, at: ParentBlock, message: CallMessage): CallOutcome {
  const { header, state } = at
  const rules = evmRulesAt(deps.config.schedule, header.timestamp)
  if (initcodeRefusal(rules, message) !== undefined) return refused({ kind: 'initcode-size' })
  const intrinsic = intrinsicGas(rules, message)
  const floor = floorGas(rules, message)
  const needed = intrinsic > floor ? intrinsic : floor
  if (message.gasLimit < needed) return refused({ kind: 'intrinsic-gas', needed })

  const env: BlockEnv = {
    chainId: BigInt(deps.config.l2ChainId),
    number: header.number,
    timestamp: header.timestamp,
    beneficiary: header.beneficiary,
    prevRandao: header.mixHash,
    gasLimit: header.gasLimit,
    baseFee: header.baseFeePerGas ?? 0n,
    blobBaseFee: 1n,
  }
  const session = deps.evm.open(state.view, env, rules)
  const { from, to, value, data, gasLimit, gasPrice, accessList } = message
  const { balance = 0n, nonce = 0n } = session.account(from) ?? {}
  const want = gasLimit * gasPrice + value
  if (balance < want) return refused({ kind: 'insufficient-funds', have: balance, want })
  if (nonce >= maxNonce) return refused({ kind: 'nonce-overflow' })

  session.beginTransaction({ origin: from, gasPrice, blobHashes: [], warm: accessList })
  session.subtractBalance(from, gasLimit * gasPrice)
  if (to !== null) session.setNonce(from, nonce + 1n)
  const outcome = session.run({ caller: from, to, value, data, gas: gasLimit - intrinsic })
  if (outcome.kind === 'halt') return { kind: 'halt', reason: outcome.reason }
  const created = outcome.kind === 'success' ? outcome.created : undefined
  return { kind: outcome.kind, output: created === undefined ? outcome.output : session.code(created) }
}
