import { beaconRootsContract, historyStorageContract, systemCaller } from '#chain/addresses'
import { create2DeployerAddress, create2DeployerCode } from '#chain/create2Deployer'
import { activatesAt, type ForkSchedule, isActive } from '#chain/forks'
import type { EvmSession } from '#evm/ports'
import { fromHex } from '#lib/hex'
import type { Address, Hash } from '#types/ids'

/** gas of a system call; outside the block's gas */
const systemCallGas = 30_000_000n

/** A contract that is not deployed yet is not called; how the call ends does not matter. */
function systemCall(session: EvmSession, to: Address, word: Hash): void {
  if (session.code(to).length === 0) return
  session.beginTransaction({ origin: systemCaller, gasPrice: 0n, blobHashes: [], warm: [] })
  session.run({ caller: systemCaller, to, value: 0n, data: fromHex(word), gas: systemCallGas })
  session.endTransaction()
}

function deployCreate2(session: EvmSession): void {
  session.beginTransaction({ origin: systemCaller, gasPrice: 0n, blobHashes: [], warm: [] })
  session.setCode(create2DeployerAddress, create2DeployerCode)
  session.endTransaction()
}

/**
 * What changes the state before a block's first transaction, in this order: parent hash (EIP-2935, Isthmus), beacon root (EIP-4788,
 * Ecotone), the create2 deployer (Canyon's first block).
 * @see specs protocol/ecotone and isthmus exec-engine.md; protocol/canyon/overview.md, "create2Deployer"
 */
export function applySystemCalls(
  session: EvmSession,
  schedule: ForkSchedule,
  parent: { readonly hash: Hash; readonly timestamp: number },
  block: { readonly timestamp: number; readonly parentBeaconBlockRoot?: Hash },
): void {
  const { timestamp, parentBeaconBlockRoot } = block
  if (isActive(schedule, 'isthmus', timestamp)) systemCall(session, historyStorageContract, parent.hash)
  if (parentBeaconBlockRoot !== undefined && isActive(schedule, 'ecotone', timestamp)) {
    systemCall(session, beaconRootsContract, parentBeaconBlockRoot)
  }
  if (activatesAt(schedule, 'canyon', parent.timestamp, timestamp)) deployCreate2(session)
}
