import type { NodeProcess } from '../../e2e/nodeProcess.ts'

/** Returns an address of a node itself, from its log: `NodeProcess.url` is that of a proxy in this process. */
export function ownUrl(node: NodeProcess, server: 'rpc' | 'ws'): string {
  const urls = JSON.parse(node.logged(/"node started"/)[0] ?? '{}') as Partial<Record<typeof server, string>>
  return urls[server] ?? ''
}
