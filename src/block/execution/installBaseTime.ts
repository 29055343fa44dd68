import { baseTimeAddress, proxyAdmin, systemCaller } from '#chainspec/addresses'
import { baseTimeCode, baseTimeImplementation } from '#chainspec/baseTime'
import type { EvmSession } from '#evm/ports'
import { parseHash } from '#types/ids'

/** Storage slots of a proxy's implementation and admin; EIP-1967. */
const implementationSlot = parseHash('0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc')
const adminSlot = parseHash('0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103')

/**
 * Installs the implementation of BaseTime behind its proxy, before the first transaction of a Denim block. It acts once: an implementation that is set
 * stays. Nonce and balance of the implementation's account stay too.
 * @returns why the proxy cannot take an implementation, which makes the block invalid
 * @see Base's documentation, "Denim", BaseTime
 */
export function installBaseTime(session: EvmSession): string | undefined {
  if (session.slot(baseTimeAddress, implementationSlot) !== 0n) return undefined
  if (session.account(baseTimeAddress) === undefined) return 'the BaseTime proxy is missing'
  if (session.code(baseTimeAddress).length === 0) return 'the BaseTime proxy has no code'
  const admin = session.slot(baseTimeAddress, adminSlot)
  if (admin !== BigInt(proxyAdmin)) return `the BaseTime proxy has the admin 0x${admin.toString(16)}, ${proxyAdmin} expected`
  session.beginTransaction({ origin: systemCaller, gasPrice: 0n, blobHashes: [], warm: [] })
  session.setCode(baseTimeImplementation, baseTimeCode)
  session.setSlot(baseTimeAddress, implementationSlot, BigInt(baseTimeImplementation))
  session.endTransaction()
  return undefined
}
