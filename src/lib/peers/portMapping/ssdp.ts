import { createSocket } from 'node:dgram'
import type { Clock } from '../../clock.ts'

/** Devices and services of a gateway that maps ports: both versions. */
const searched = [
  'urn:schemas-upnp-org:device:InternetGatewayDevice:1',
  'urn:schemas-upnp-org:device:InternetGatewayDevice:2',
  'urn:schemas-upnp-org:service:WANIPConnection:1',
] as const
/** Multicast address of UPnP. */
export const ssdpAddress = { host: '239.255.255.250', port: 1_900 }
const [repeats, repeatMs, maxLocations] = [2, 500, 8]

function searchFor(target: string, { host, port }: typeof ssdpAddress): string {
  return ['M-SEARCH * HTTP/1.1', `HOST: ${host}:${port}`, 'MAN: "ssdp:discover"', 'MX: 1', `ST: ${target}`, '', ''].join('\r\n')
}

/** Returns the URL in an answer, when it is of the machine that answered: another one could name any machine. */
function locationIn(answer: string, ip: string): URL | undefined {
  const [, text = ''] = /^location:[ \t]*(\S+)[ \t]*\r?$/im.exec(answer) ?? []
  if (!answer.startsWith('HTTP/1.1 200') || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === 'http:' && url.hostname === ip ? url : undefined
}

/**
 * Searches the local network for gateways. The socket has a port of its own: nothing but answers to this search arrives.
 * @param waitMs time for answers
 * @returns URLs of descriptions, at most eight
 * @see UPnP Device Architecture 1.1, section 1.3
 */
export async function findGateways(clock: Clock, waitMs: number, to: typeof ssdpAddress = ssdpAddress): Promise<readonly URL[]> {
  const socket = createSocket('udp4')
  const found = new Map<string, URL>()
  socket.on('error', () => {})
  socket.on('message', (answer, { address }) => {
    const url = locationIn(answer.toString('latin1'), address)
    if (url && found.size < maxLocations) found.set(url.href, url)
  })
  try {
    for (let i = 0; i < repeats; i++) {
      for (const target of searched) socket.send(searchFor(target, to), to.port, to.host, () => {})
      await clock.delay(repeatMs)
    }
    await clock.delay(Math.max(0, waitMs - repeats * repeatMs))
    return [...found.values()]
  } finally {
    socket.close()
  }
}
