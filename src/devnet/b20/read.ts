import { toHex } from '#lib/hex'
import { factoryAddress } from '#nativeContracts/addresses'
import type { Address } from '#types/ids'
import { bytesField } from '#types/jsonShape'
import { type AbiValue, type DecodedValue, decodeArguments, encodeCall } from '../abi.ts'
import { devnetFault } from '../faults.ts'
import type { RemoteDevnet } from '../remoteDevnet.ts'

/**
 * Calls a native contract at the head and returns the results.
 * @param results types such as `(string)`
 * @throws Fault CALL_REVERTED, NO_B20, DEVNET_RPC (all fatal)
 */
export function readContract(
  { l2 }: Pick<RemoteDevnet, 'l2'>,
  to: Address,
  signature: string,
  values: readonly AbiValue[],
  results: string,
): Promise<readonly DecodedValue[]> {
  return l2('eth_call', [{ to, data: toHex(encodeCall(signature, values)) }, 'latest'], (result) => {
    const decoded = decodeArguments(results, bytesField({ result }, 'result'))
    // an account without code returns nothing
    if (decoded === undefined) throw devnetFault('NO_B20', {})
    return decoded
  })
}

/** Requires that a token exists. @throws Fault NO_B20, NO_B20_TOKEN, DEVNET_RPC (all fatal) */
export async function requireToken(devnet: Pick<RemoteDevnet, 'l2'>, token: Address): Promise<void> {
  const [exists] = await readContract(devnet, factoryAddress, 'isB20Initialized(address)', [token], '(bool)')
  if (exists !== true) throw devnetFault('NO_B20_TOKEN', { token })
}
