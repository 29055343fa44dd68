import { expect, it } from 'vitest'
import type { NodeOptions } from '../nodeOptions.ts'
import { advertisedAt } from './portMappingPart.ts'

const peers = { port: 30_303 } as NodeOptions['executionPeers']

it('node/parts/portMappingPart: advertises the address of the gateway, unless a flag names another one', () => {
  const p2p = { port: 9_222, advertise: { tcpPort: 9_000 } } as NodeOptions['p2p']
  const options = { nat: 'upnp' as const, ...(p2p && { p2p }), ...(peers && { executionPeers: peers }) }
  expect(advertisedAt('192.0.2.1', options)).toEqual({
    nat: 'upnp',
    p2p: { port: 9_222, advertise: { host: '192.0.2.1', tcpPort: 9_000 } },
    executionPeers: { port: 30_303, advertisedHost: '192.0.2.1' },
  })
  const named = advertisedAt('192.0.2.1', { ...options, p2p: { port: 9_222, advertise: { host: '192.0.2.9' } } as NodeOptions['p2p'] & {} })
  expect(named.p2p.advertise).toEqual({ host: '192.0.2.9' })
  expect(advertisedAt(undefined, options)).toBe(options)
})
