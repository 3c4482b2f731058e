// Copyright 2026 The etcd-operator Authors
// SPDX-License-Identifier: Apache-2.0

// How the site is built of the repository's pages. hack/docs.sh lays them out as the repository does, so that a page knows
// where it stands there: its links are those that GitHub follows.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'

const repository = 'https://github.com/etcd-operator/etcd-operator/blob/main/'
const pages = new URL('../pages/', import.meta.url).pathname
const nav = JSON.parse(readFileSync(new URL('../nav.json', import.meta.url), 'utf8'))

// address is where a page of the repository is on the site.
function address(page) {
  return '/' + page.replace(/^docs\//, '').replace(/^lab\/README\.md$/, 'lab.md').replace(/^[A-Z]+\.md$/, (name) => name.toLowerCase())
}

// slug makes the anchors that GitHub makes, which the links in the pages name.
function slug(headline) {
  return headline.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')
}

// A link to another page stays on the site. One to code or manifests leads to the repository.
function link(href, from) {
  if (/^([a-z]+:|#)/.test(href)) return href
  const [file, anchor] = href.split('#')
  const target = normalize(join(dirname(from), file)).replace(/\/$/, '')
  const suffix = anchor ? '#' + anchor : ''
  if (target === 'docs') return '/' + suffix
  return (target.endsWith('.md') && existsSync(pages + target) ? address(target) : repository + target) + suffix
}

// Commands are highlighted; drawings, listings and output are not.
const command = /^\s*(kubectl|make|helm|go|git|etcdctl|skopeo|sed|export|curl|example\/|hack\/|_out\/)/

// Where a table is too wide for a phone, each cell is a line of its own and says which column it is of.
function labelCells(tokens) {
  let labels, column
  tokens.forEach(({ type }, i) => {
    if (type === 'table_open') labels = []
    if (type === 'tr_open') column = 0
    if (type === 'th_open') labels.push(tokens[i + 1].content)
    if (type === 'td_open') tokens[i].attrSet('data-label', labels[column++] ?? '')
  })
}

function repositoryPages(md) {
  md.core.ruler.push('repository', (state) => {
    const from = state.env.path.slice(pages.length)
    labelCells(state.tokens)
    for (const token of state.tokens) {
      if (token.type === 'code_block') {
        token.type = 'fence'
        token.tag = 'code'
        token.markup = '```'
        token.info = command.test(token.content) ? 'sh' : 'txt'
      }
      for (const child of token.children ?? []) {
        if (child.type === 'link_open') child.attrSet('href', link(child.attrGet('href'), from))
      }
    }
  })
  // Vue would take double braces for a program of its own.
  const text = md.renderer.rules.text
  md.renderer.rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;')
}

const sidebar = nav.map(({ part, pages }) => ({
  text: part,
  collapsed: false,
  items: pages.map(({ page, title }) => ({ text: title, link: address(page).replace(/\.md$/, '.html').replace(/\/index\.html$/, '/') })),
}))

export default {
  title: 'etcd-operator',
  description: 'etcd clusters on Kubernetes that scale, heal, upgrade, back up and restore by themselves',
  lang: 'en',
  srcDir: 'pages',
  outDir: 'out',
  rewrites: (path) => address(path).slice(1),
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: { anchor: { slugify: slug }, config: repositoryPages },
  themeConfig: {
    nav: sidebar.map(({ text, items }) => ({ text, link: items[0].link })),
    sidebar,
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    docFooter: { prev: 'Before', next: 'Next' },
  },
}
