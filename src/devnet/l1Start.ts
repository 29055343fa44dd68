import { join } from 'node:path'
import type { Clock } from '#lib/clock'
import type { Log } from '#lib/log'
import { parseAddress, zeroAddress } from '#types/ids'
import { startAnvilL1 } from './anvil.ts'
import { partFolders } from './datadir.ts'
import { startBalance, systemConfigOf } from './devnetChain.ts'
import { scratchFolder } from './l1/anvilDirectory.ts'
import { l1Contracts } from './l1Contracts.ts'
import { startMemoryL1 } from './memoryL1.ts'
import type { ResolvedOptions } from './options.ts'
import type { DevnetL1 } from './ports.ts'

/**
 * Starts the L1 of a devnet with its accounts and contracts.
 * @param folder of the devnet: its data directory or a temporary folder
 * @throws Fault DEVNET_L1_MISSING, DEVNET_L1_PORT, DEVNET_L1_STATE, DEVNET_L1_START (fatal)
 */
export function startL1(
  deps: { readonly fetch: typeof fetch; readonly clock: Clock; readonly log?: Log },
  { fixed, accounts, roles, datadir, ports, dataAvailability }: ResolvedOptions,
  genesisTimeSec: number,
  folder: string,
): Promise<DevnetL1> {
  const funded = [...accounts, roles.batcher, roles.owner].map(({ address }) => ({
    address: parseAddress(address),
    balanceWei: startBalance,
  }))
  const common = {
    chainId: fixed.l1ChainId,
    genesisTimeSec,
    slotSec: fixed.slotSec,
    accounts: funded,
    contracts: l1Contracts({
      owner: parseAddress(roles.owner.address),
      systemConfig: systemConfigOf(fixed),
      unsafeBlockSigner: zeroAddress,
    }),
    ...(ports.l1 !== undefined && { port: ports.l1 }),
  }
  if (fixed.l1 === 'memory') return startMemoryL1(common)
  const expectsBlobs = dataAvailability !== 'calldata'
  const own = join(folder, partFolders.l1)
  const scratch = join(own, scratchFolder)
  return startAnvilL1(deps, { ...common, expectsBlobs, scratch, ...(datadir !== undefined && { datadir: own }) })
}
