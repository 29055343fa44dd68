import { createRequire } from 'node:module'
import { createEVM, type EVM } from '@ethereumjs/evm'
import { toHex } from '#lib/hex'
import type { Address, Hash } from '#types/ids'

type OracleAddress = Parameters<EVM['stateManager']['putCode']>[0]
type OracleAccount = NonNullable<Parameters<EVM['stateManager']['putAccount']>[1]>
type OracleOptions = NonNullable<Parameters<typeof createEVM>[0]>

// these packages are dependencies of the oracle's package, not of this one
const beside = createRequire(createRequire(import.meta.url).resolve('@ethereumjs/evm'))
const { Account, createAddressFromString } = beside('@ethereumjs/util') as {
  Account: new (nonce: bigint, balance: bigint) => OracleAccount
  createAddressFromString(address: string): OracleAddress
}
const { Common, Mainnet } = beside('@ethereumjs/common') as {
  Common: new (options: { chain: unknown; hardfork: string }) => NonNullable<OracleOptions['common']>
  Mainnet: unknown
}

const slotKey = (slot: Hash): Uint8Array => Uint8Array.from(Buffer.from(slot.slice(2), 'hex'))

/** Runs a call of a contract on another interpreter, under Ethereum's rules. Returns its success and the given slots after it. */
export async function oracleCall(
  hardfork: 'prague' | 'osaka',
  of: { readonly to: Address; readonly code: Uint8Array; readonly data: Uint8Array; readonly gas: bigint; readonly slots: readonly Hash[] },
): Promise<{ readonly succeeded: boolean; readonly slots: readonly bigint[] }> {
  const evm = await createEVM({ common: new Common({ chain: Mainnet, hardfork }) })
  const to = createAddressFromString(of.to)
  await evm.stateManager.putAccount(to, new Account(1n, 0n))
  await evm.stateManager.putCode(to, of.code)
  for (let number = 1; number <= 0x11; number++) evm.journal.addAlwaysWarmAddress(`0x${number.toString(16).padStart(40, '0')}`, true)
  evm.journal.addAlwaysWarmAddress(`0x${'100'.padStart(40, '0')}`, true)
  const { execResult } = await evm.runCall({ to, gasLimit: of.gas, data: of.data })
  const slots: bigint[] = []
  for (const slot of of.slots) {
    const bytes = toHex(await evm.stateManager.getStorage(to, slotKey(slot)))
    slots.push(bytes === '0x' ? 0n : BigInt(bytes))
  }
  return { succeeded: execResult.exceptionError === undefined, slots }
}
