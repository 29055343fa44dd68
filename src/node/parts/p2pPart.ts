import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { localSigner, remoteSigner } from '#p2p/blockSigner'
import { openIdentity, readKey } from '#p2p/identity'
import { p2pMetrics } from '#p2p/metrics'
import { publishedPeersOf } from '#p2p/networks'
import { P2p, type P2pDeps } from '#p2p/p2p'
import type { PartDeps } from '../nodeDeps.ts'
import type { NodeOptions, P2pOptions } from '../nodeOptions.ts'
import type { Tracing } from '../tracing/tracing.ts'

export type P2pPartOptions = Pick<NodeOptions, 'config' | 'datadir' | 'version'> & { readonly p2p: P2pOptions }

function signerOf({ fetch }: Pick<PartDeps, 'fetch'>, { config, p2p: { blockSigner } }: P2pPartOptions): P2pDeps['signBlock'] {
  const chainId = config.l2ChainId
  if (blockSigner === undefined) return undefined
  switch (blockSigner.kind) {
    case 'key':
      return localSigner(chainId, blockSigner.key)
    case 'keyFile':
      return localSigner(chainId, readKey(blockSigner.file))
    case 'remote':
      return remoteSigner({ fetch }, { ...blockSigner, chainId })
  }
}

/** Joins the consensus network. @throws Fault P2P_PORT, P2P_PEER, P2P_KEY (fatal) */
export async function openP2p(deps: PartDeps & { readonly tracing?: Tracing | undefined }, options: P2pPartOptions): Promise<P2p> {
  const { clock, registry, tracing } = deps
  const { config, datadir, version, p2p } = options
  const { identity, identityFile, unsafeSigner, blockSigner: _, ...settings } = p2p
  const folder = join(datadir, 'p2p')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const key = identity ?? openIdentity(identityFile ?? join(folder, 'identity.hex'))
  const published = publishedPeersOf(config.l2ChainId)
  const signBlock = signerOf(deps, options)
  return await P2p.open(
    {
      clock,
      log: deps.log,
      metrics: p2pMetrics.register(registry),
      ...(signBlock && { signBlock }),
      ...(tracing && { onBlock: tracing.gossiped.bind(tracing) }),
    },
    {
      ...settings,
      bootnodes: settings.bootnodes.length > 0 ? settings.bootnodes : (published?.bootnodes ?? []),
      config,
      identity: key,
      agent: `basalt/${version}`,
      // with a key of the caller nothing is written
      ...(identity === undefined && { peersFile: join(folder, 'peers.json') }),
      signer: published?.signer ?? unsafeSigner,
    },
  )
}
