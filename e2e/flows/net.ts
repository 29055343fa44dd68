import { defineChain } from 'viem'
import { chainConfig } from 'viem/op-stack'
import type { TestProject } from 'vitest/node'
import { startDevnet } from '../../src/devnet/startDevnet.ts'

type Hex = `0x${string}`

/** Data of a running devnet for wallets. */
export type FlowNet = {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly l1Url: string
  readonly chainId: number
  readonly l1ChainId: number
  /** accounts with ETH on both chains */
  readonly accounts: readonly { readonly address: Hex; readonly privateKey: Hex }[]
  readonly contracts: { readonly portal: Hex }
}

declare module 'vitest' {
  export interface ProvidedContext {
    net: FlowNet
  }
}

/** Returns viem's definition of the devnet. */
export const l2ChainOf = (net: FlowNet) =>
  defineChain({
    ...chainConfig,
    id: net.chainId,
    name: 'devnet',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [net.rpcUrl], webSocket: [net.wsUrl] } },
    sourceId: net.l1ChainId,
    contracts: { ...chainConfig.contracts, portal: { [net.l1ChainId]: { address: net.contracts.portal } } },
  })

export const l1ChainOf = (net: FlowNet) =>
  defineChain({
    id: net.l1ChainId,
    name: 'devnet L1',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [net.l1Url] } },
  })

/** Starts one devnet for all files: FLOWS_NET (JSON) names a running one instead. */
// biome-ignore lint/style/noDefaultExport: vitest's form of a global set-up
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['FLOWS_NET']
  if (given !== undefined) {
    project.provide('net', JSON.parse(given) as FlowNet)
    return async () => undefined
  }
  const devnet = await startDevnet({ blockTimeSec: 1 })
  const { urls, chainId, l1ChainId, accounts, contracts } = devnet
  const { rpc: rpcUrl, ws: wsUrl, l1: l1Url } = urls
  project.provide('net', {
    rpcUrl,
    wsUrl,
    l1Url,
    chainId,
    l1ChainId,
    accounts: [...accounts],
    contracts: { portal: contracts.portal as Hex },
  })
  return async () => {
    const { agreement } = devnet.status()
    console.log(JSON.stringify(devnet.status(), (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)))
    await devnet[Symbol.asyncDispose]()
    if (agreement.kind !== 'agrees') throw new Error(`the nodes differ at block ${agreement.difference.number}`)
  }
}
