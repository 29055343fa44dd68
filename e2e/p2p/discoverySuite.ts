import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Discovery } from '../../src/executionPeers/discovery/discovery.ts'
import { enodeOf, idOfKey } from '../../src/executionPeers/net/nodeId.ts'
import { createPrivateKey } from '../../src/executionPeers/rlpx/ecies.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLog } from '../../src/lib/log.ts'
import { publicKeyOf } from '../../src/lib/secp256k1.ts'

/** Returns the programs in a folder whose name begins with `devp2p`: go-ethereum's tool with suites that judge a node. */
export const suitesIn = (folder: string): readonly string[] => readdirSync(folder).filter((name) => name.startsWith('devp2p'))

/** Has go-ethereum's suite of discovery v4 judge this node. @throws Error with the output when a test failed */
export async function discoverySuite(path: string): Promise<string> {
  const privateKey = createPrivateKey()
  const discovery = new Discovery(
    {
      ...{ clock: systemClock, log: silentLog },
      forkId: () => ({ hash: '0x12345678', next: 0 }),
      isOfChain: () => true,
      onNode: () => {},
    },
    { privateKey, host: '127.0.0.1', port: 0, tcpPort: 30_303, advertisedHost: '127.0.0.1', bootnodes: [] },
  )
  await discovery.start()
  try {
    const enode = enodeOf({ id: idOfKey(publicKeyOf(privateKey)), host: '127.0.0.1', tcpPort: discovery.port, udpPort: discovery.port })
    const args = ['discv4', 'test', '--remote', enode, '--listen1', '127.0.0.1', '--listen2', '127.0.0.2']
    const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
    await once(child, 'close')
    const last = output.trimEnd().split('\n').at(-1) ?? ''
    const [, passed, all] = /^(\d+)\/(\d+) tests passed/.exec(last) ?? []
    if (passed === undefined || passed !== all) throw new Error(output)
    return last
  } finally {
    await discovery.stop()
  }
}
