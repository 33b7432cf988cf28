/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver of PCI devices; as platform.h.
 */
#ifndef DRAY_PCI_H
#define DRAY_PCI_H

#ifdef CONFIG_PCI
int dray_pci_register(void);
void dray_pci_attach(void);
void dray_pci_unregister(void);
#else
static inline int dray_pci_register(void)
{
	return 0;
}

static inline void dray_pci_attach(void)
{
}

static inline void dray_pci_unregister(void)
{
}
#endif /* CONFIG_PCI */

#endif /* DRAY_PCI_H */
