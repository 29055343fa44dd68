import { beaconRootsContract, historyStorageContract, systemCaller } from '#chainspec/addresses'
import { create2DeployerAddress, create2DeployerCode } from '#chainspec/create2Deployer'
import { activatesAt, type ForkSchedule, isActive } from '#chainspec/forks'
import type { EvmSession, Outcome } from '#evm/ports'
import { fromHex } from '#lib/hex'
import type { Address, Hash } from '#types/ids'
import { installBaseTime } from './installBaseTime.ts'

/** Gas limit of a system call; it does not count against the block's gas. */
const systemCallGas = 30_000_000n

/** Makes a system call. @returns its outcome; undefined when the contract is not deployed, so that no call is made */
export function systemCall(session: EvmSession, to: Address, data: Uint8Array): Outcome | undefined {
  if (session.code(to).length === 0) return undefined
  session.beginTransaction({ origin: systemCaller, gasPrice: 0n, blobHashes: [], warm: [] })
  const outcome = session.run({ caller: systemCaller, to, value: 0n, data, gas: systemCallGas })
  session.endTransaction()
  return outcome
}

function deployCreate2(session: EvmSession): void {
  session.beginTransaction({ origin: systemCaller, gasPrice: 0n, blobHashes: [], warm: [] })
  session.setCode(create2DeployerAddress, create2DeployerCode)
  session.endTransaction()
}

/**
 * Applies the state changes before a block's first transaction, in this order: parent hash (EIP-2935, Isthmus), beacon root (EIP-4788, Ecotone),
 * the create2 deployer (first block of Canyon), the implementation of BaseTime (Denim). A system call that fails is ignored.
 * @returns why BaseTime cannot be installed, which makes the block invalid
 * @see specs protocol/ecotone and isthmus exec-engine.md; protocol/canyon/overview.md, "create2Deployer"
 */
export function applySystemCalls(
  session: EvmSession,
  schedule: ForkSchedule,
  parent: { readonly hash: Hash; readonly timestamp: number },
  block: { readonly timestamp: number; readonly parentBeaconBlockRoot?: Hash },
): string | undefined {
  const { timestamp, parentBeaconBlockRoot } = block
  if (isActive(schedule, 'isthmus', timestamp)) systemCall(session, historyStorageContract, fromHex(parent.hash))
  if (parentBeaconBlockRoot !== undefined && isActive(schedule, 'ecotone', timestamp)) {
    systemCall(session, beaconRootsContract, fromHex(parentBeaconBlockRoot))
  }
  if (activatesAt(schedule, 'canyon', parent.timestamp, timestamp)) deployCreate2(session)
  return isActive(schedule, 'denim', timestamp) ? installBaseTime(session) : undefined
}
