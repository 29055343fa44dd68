import { beaconRootsContract, historyStorageContract, systemCaller } from '#chainspec/addresses'
import { create2DeployerAddress, create2DeployerCode } from '#chainspec/create2Deployer'
import { activatesAt, type ForkSchedule, isActive } from '#chainspec/forks'
import type { EvmSession, Outcome } from '#evm/ports'
import { fromHex } from '#lib/hex'
import type { Address, Hash } from '#types/ids'

/** gas of a system call; outside the block's gas */
const systemCallGas = 30_000_000n

/** A call that the protocol makes. @returns how it ended; undefined: a contract that is not deployed yet is not called */
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
 * What changes the state before a block's first transaction, in this order: parent hash (EIP-2935, Isthmus), beacon root (EIP-4788,
 * Ecotone), the create2 deployer (Canyon's first block). How the calls end does not matter.
 * @see specs protocol/ecotone and isthmus exec-engine.md; protocol/canyon/overview.md, "create2Deployer"
 */
export function applySystemCalls(
  session: EvmSession,
  schedule: ForkSchedule,
  parent: { readonly hash: Hash; readonly timestamp: number },
  block: { readonly timestamp: number; readonly parentBeaconBlockRoot?: Hash },
): void {
  const { timestamp, parentBeaconBlockRoot } = block
  if (isActive(schedule, 'isthmus', timestamp)) systemCall(session, historyStorageContract, fromHex(parent.hash))
  if (parentBeaconBlockRoot !== undefined && isActive(schedule, 'ecotone', timestamp)) {
    systemCall(session, beaconRootsContract, fromHex(parentBeaconBlockRoot))
  }
  if (activatesAt(schedule, 'canyon', parent.timestamp, timestamp)) deployCreate2(session)
}
