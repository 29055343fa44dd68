import { testMnemonic } from '#devnet/accounts'
import { ensureActivated } from '#devnet/b20/activation'
import type { Feature } from '#devnet/b20/names'
import type { DevnetAccount } from '#devnet/ports'
import type { RemoteDevnet } from '#devnet/remoteDevnet'
import { accountOf, type SentReceipt } from '#devnet/wallet'
import type { Io } from '../command.ts'
import type { FlagName } from '../flags.ts'
import { connect } from './connect.ts'

/** Flags of every command that sends. */
export const senderFlags = ['from', 'mnemonic', 'control.port', 'json'] as const satisfies readonly FlagName[]
export type SenderFlags = {
  readonly from: string | undefined
  readonly mnemonic: string | undefined
  readonly 'control.port': number | 'off'
}

export type Sender = { readonly devnet: RemoteDevnet; readonly account: DevnetAccount; readonly mnemonic: string }

/** Connects to the devnet with the account of --from. @throws Fault DEVNET_NOT_RUNNING, UNKNOWN_ACCOUNT (fatal) */
export async function senderOf(io: Io, given: SenderFlags): Promise<Sender> {
  const devnet = await connect(io, given['control.port'])
  const mnemonic = given.mnemonic ?? testMnemonic
  return { devnet, account: accountOf(devnet, mnemonic, given.from ?? '0'), mnemonic }
}

export type Facts = Readonly<Record<string, string | number | boolean>>

/** Activates a feature, if that is necessary, and returns what to print about it. */
export async function activated({ devnet, mnemonic }: Sender, feature: Feature): Promise<Facts> {
  return (await ensureActivated(devnet, mnemonic, feature)) ? { activatedFeature: feature } : {}
}

/** Returns what to print about a sent transaction. */
export const sentFacts = ({ hash, block, gasUsed }: SentReceipt): Facts => ({
  transaction: hash,
  block: block.number,
  gasUsed: gasUsed.toString(),
})
