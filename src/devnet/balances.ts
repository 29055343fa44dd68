import type { RemoteDevnet } from './remoteDevnet.ts'
import { readBalance } from './wallet.ts'

export type AccountBalances = { readonly address: string; readonly l1Wei: bigint; readonly l2Wei: bigint }

/** Returns the balances of each account on both chains. @throws Fault DEVNET_RPC (fatal) */
export function readBalances({ facts, l1, l2 }: RemoteDevnet): Promise<readonly AccountBalances[]> {
  return Promise.all(
    facts.accounts.map(async (address) => {
      const [l1Wei, l2Wei] = await Promise.all([readBalance(l1, address), readBalance(l2, address)])
      return { address, l1Wei, l2Wei }
    }),
  )
}
