import { emptyBytes } from '#lib/bytes'
import { runActivationRegistry } from './activation/registry.ts'
import type { NativeContract } from './addresses.ts'
import { runFactory } from './factory/factory.ts'
import type { NativeHost } from './host.ts'
import { contractError, NativeOutOfGas, NativeRevert } from './kit/ends.ts'
import { runPolicyRegistry } from './policy/registry.ts'
import type { NativeRules } from './rules.ts'
import { runNonceManager } from './system/nonceManager.ts'
import { runTransactionContext } from './system/transactionContext.ts'
import { runToken } from './token/token.ts'

/** How a native frame ended. After `out of gas` the frame has no gas left. */
export type NativeEnd = { kind: 'success' | 'revert' | 'out of gas'; output: Uint8Array }

/** The end that `runNative` returns; one object, because transfers return it often. */
const end: NativeEnd = { kind: 'success', output: emptyBytes }

function endOf(kind: NativeEnd['kind'], output: Uint8Array): NativeEnd {
  end.kind = kind
  end.output = output
  return end
}

const delegateCallNotAllowed = contractError('DelegateCallNotAllowed()')
const nonPayable = contractError('NonPayable()')
const gasInputWord = 6

const contracts: Readonly<Record<NativeContract, (host: NativeHost, rules: NativeRules) => Uint8Array>> = {
  factory: runFactory,
  activationRegistry: runActivationRegistry,
  policyRegistry: runPolicyRegistry,
  nonceManager: runNonceManager,
  transactionContext: runTransactionContext,
  asset: (host, rules) => runToken(host, rules, 'asset'),
  stablecoin: (host, rules) => runToken(host, rules, 'stablecoin'),
}

function outputOf(contract: NativeContract, host: NativeHost, rules: NativeRules): Uint8Array {
  if (host.isBorrowed) throw delegateCallNotAllowed()
  if (host.hasValue && (contract !== 'activationRegistry' || rules.activationRefusesValue)) throw nonPayable()
  if (contract !== 'transactionContext') host.charge(gasInputWord * ((host.end - host.start + 31) >>> 5))
  return contracts[contract](host, rules)
}

/** Runs a frame of a native contract. The result is valid until the next call. Exceptions of the host, such as MissingState, pass. */
export function runNative(contract: NativeContract, host: NativeHost, rules: NativeRules): NativeEnd {
  try {
    return endOf('success', outputOf(contract, host, rules))
  } catch (error) {
    if (error instanceof NativeRevert) return endOf('revert', error.data)
    if (error instanceof NativeOutOfGas) return endOf('out of gas', emptyBytes)
    throw error
  }
}
