import { activationRegistryAddress } from '#nativeContracts/addresses'
import { encodeCall } from '../abi.ts'
import { devnetAccounts } from '../accounts.ts'
import { devnetFault } from '../faults.ts'
import type { RemoteDevnet } from '../remoteDevnet.ts'
import { sendOnL2 } from '../wallet.ts'
import { type Feature, featureHash } from './names.ts'
import { readContract } from './read.ts'

/** Number of accounts of the mnemonic to search for the admin. A devnet has as many by default. */
const searched = 10

/**
 * Activates a feature through the admin of the activation registry, unless it is active.
 * @param mnemonic words with the admin's key
 * @returns whether it sent a transaction
 * @throws Fault NO_ACTIVATION_ADMIN, NO_B20, and those of `sendOnL2` (all fatal)
 */
export async function ensureActivated(devnet: RemoteDevnet, mnemonic: string, feature: Feature): Promise<boolean> {
  const hash = featureHash(feature)
  const [isActive] = await readContract(devnet, activationRegistryAddress, 'isActivated(bytes32)', [hash], '(bool)')
  if (isActive === true) return false
  const [admin] = await readContract(devnet, activationRegistryAddress, 'admin()', [], '(address)')
  const { accounts } = devnetAccounts(mnemonic, Math.max(searched, devnet.facts.accounts.length))
  const account = accounts.find(({ address }) => address === admin)
  if (account === undefined) throw devnetFault('NO_ACTIVATION_ADMIN', { feature, admin: String(admin) })
  await sendOnL2(devnet, account, { to: activationRegistryAddress, value: 0n, data: encodeCall('activate(bytes32)', [hash]) })
  return true
}
